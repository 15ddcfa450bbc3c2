import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { severityOf } from '../client/severity.js';
import { shownTime } from '../client/shown.js';
import { readIso } from '../client/time-span.js';
import { TEXTS } from '../texts.js';

/** Number and colour: the number says it without the colour. */
export function LevelBadge({ level }: { readonly level: number }) {
  return <span class={`badge ${severityOf(level)}`}>{level}</span>;
}

/** A state in a word: good, bad, or neither. */
export function StateBadge({
  state,
  tone,
}: {
  readonly state: string;
  readonly tone: 'good' | 'bad' | 'plain' | 'warn';
}) {
  return <span class={`badge ${tone}`}>{state}</span>;
}

/** A time as this computer's language writes it; the exact one is its title. @param isShort without the year, for long lists */
export function Time({ at, isShort = false }: { readonly at: string | undefined; readonly isShort?: boolean }) {
  const time = at === undefined ? undefined : (readIso(at) ?? Date.parse(at));
  if (time === undefined || Number.isNaN(time)) return <>{at ?? '–'}</>;
  return (
    <time dateTime={at} title={at}>
      {shownTime(time, isShort)}
    </time>
  );
}

/** Puts a text into the clipboard, and says so; browsers have none for pages that came without TLS. */
export function CopyButton({ text, label = TEXTS.common.copy }: { readonly text: string; readonly label?: string }) {
  const [said, setSaid] = useState<string>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(TEXTS.common.copied);
    } catch {
      setSaid(TEXTS.common.notCopied);
    }
    setTimeout(() => setSaid(undefined), 2000);
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        {said ?? label}
      </button>
      <span class="unseen" role="status">
        {said}
      </span>
    </>
  );
}

/** Names and values of one thing. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
