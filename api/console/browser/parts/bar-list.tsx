import type { ComponentChildren } from 'preact';
import { shownNumber } from '../client/shown.js';
import { TEXTS } from '../texts.js';

type BarListProps = {
  readonly items: readonly {
    readonly key: string;
    readonly label: ComponentChildren;
    readonly count: number;
    readonly href?: string;
  }[];
};

/** The commonest of something: a list whose bars say what the numbers say. */
export function BarList({ items }: BarListProps) {
  const most = Math.max(1, ...items.map(({ count }) => count));
  if (items.length === 0) return <p class="empty">{TEXTS.common.nothing}</p>;
  return (
    <ol class="bars">
      {items.map(({ key, label, count, href }) => (
        <li key={key}>
          <span class="bar-label">{href === undefined ? label : <a href={href}>{label}</a>}</span>
          <span class="bar-count">{shownNumber(count)}</span>
          <span class="bar" aria-hidden="true" style={{ width: `${String((100 * count) / most)}%` }} />
        </li>
      ))}
    </ol>
  );
}
