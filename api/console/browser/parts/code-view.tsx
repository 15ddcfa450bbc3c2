import { TEXTS } from '../texts.js';

/** Characters of a text that are shown: a list, or a merged file of a group, can have megabytes. */
const MOST = 200_000;

type CodeViewProps = {
  readonly label: string;
  readonly text: string;
  /** Lines to point out, from 1. */
  readonly marked?: readonly number[];
  /** The number of the first line. */
  readonly from?: number;
};

/** A text with numbers of lines; of a very long one the beginning. */
export function CodeView({ label, text, marked = [], from = 1 }: CodeViewProps) {
  const lines = text.slice(0, MOST).replace(/\n$/, '').split('\n');
  const pointedOut = new Set(marked);
  return (
    <>
      {text.length > MOST && <p class="hint">{TEXTS.common.cut(MOST, text.length)}</p>}
      <pre class="code" role="region" aria-label={label} tabIndex={0}>
        {lines.map((line, index) => (
          <span class={pointedOut.has(index + from) ? 'line marked' : 'line'} key={index}>
            <span class="line-number" aria-hidden="true">
              {index + from}
            </span>
            {`${line}\n`}
          </span>
        ))}
      </pre>
    </>
  );
}
