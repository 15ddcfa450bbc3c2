import { structuredPatch } from 'diff';
import { useMemo } from 'preact/hooks';
import { TEXTS } from '../texts.js';

type DiffViewProps = { readonly label: string; readonly before: string; readonly after: string };

/** Lines around a change. */
const CONTEXT = 3;
/** Milliseconds for which a difference is looked for: the page stands still meanwhile. */
const TIMEOUT_MS = 1000;

/** What changes from one text to the other, line by line. */
export function DiffView({ label, before, after }: DiffViewProps) {
  const patch = useMemo(
    () => structuredPatch('', '', before, after, '', '', { context: CONTEXT, timeout: TIMEOUT_MS }),
    [before, after],
  );
  if (patch === undefined) return <p class="empty">{TEXTS.common.noDifferenceFound}</p>;
  const { hunks } = patch;
  if (hunks.length === 0) return <p class="empty">{TEXTS.common.noDifference}</p>;
  return (
    <pre class="code diff" role="region" aria-label={label} tabIndex={0}>
      {hunks.map((hunk, index) => (
        <span key={index}>
          <span class="line hunk">{`@@ -${String(hunk.oldStart)} +${String(hunk.newStart)} @@\n`}</span>
          {hunk.lines.map((line, at) => (
            <span class={classOf(line)} key={at}>{`${line}\n`}</span>
          ))}
        </span>
      ))}
    </pre>
  );
}

/** Differences as `diff` writes them, such as those that alerts carry. */
export function DiffText({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <pre class="code diff" role="region" aria-label={label} tabIndex={0}>
      {text
        .replace(/\n$/, '')
        .split('\n')
        .map((line, at) => (
          <span class={classOfNormal(line)} key={at}>{`${line}\n`}</span>
        ))}
    </pre>
  );
}

function classOfNormal(line: string): string {
  if (line.startsWith('>')) return 'line added';
  if (line.startsWith('<')) return 'line removed';
  return /^\d+(,\d+)?[acd]\d/.test(line) ? 'line hunk' : 'line';
}

function classOf(line: string): string {
  if (line.startsWith('+')) return 'line added';
  return line.startsWith('-') ? 'line removed' : 'line';
}
