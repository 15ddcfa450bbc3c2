import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { TEXTS } from '../texts.js';

/** How bad an alert is, by its level (0 to 16). */
export function severityOf(level: number): 'low' | 'medium' | 'high' | 'critical' {
  if (level >= 15) return 'critical';
  if (level >= 12) return 'high';
  return level >= 7 ? 'medium' : 'low';
}

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

/** A time as this computer's language writes it; the exact one is its title. */
export function Time({ at }: { readonly at: string | undefined }) {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  if (at === undefined || Number.isNaN(time)) return <>{at ?? '–'}</>;
  return (
    <time dateTime={at} title={at}>
      {new Date(time).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' })}
    </time>
  );
}

/** Puts a text into the clipboard, and says so. */
export function CopyButton({ text, label = TEXTS.common.copy }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        {isCopied ? TEXTS.common.copied : label}
      </button>
      <span class="unseen" role="status">
        {isCopied && TEXTS.common.copied}
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
