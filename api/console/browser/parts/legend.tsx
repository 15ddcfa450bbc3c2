import { shownNumber } from '../client/shown.js';

/** What the colours of a chart mean. */
export function Legend({
  items,
}: {
  readonly items: readonly { readonly label: string; readonly colour: string; readonly count?: number }[];
}) {
  return (
    <ul class="legend">
      {items.map(({ label, colour, count }) => (
        <li key={label}>
          <span class="swatch" aria-hidden="true" style={{ background: `var(${colour})` }} />
          {label}
          {count !== undefined && <strong> {shownNumber(count)}</strong>}
        </li>
      ))}
    </ul>
  );
}
