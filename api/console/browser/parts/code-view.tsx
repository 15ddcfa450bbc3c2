type CodeViewProps = {
  readonly label: string;
  readonly text: string;
  /** Lines to point out, from 1. */
  readonly marked?: readonly number[];
  /** The number of the first line. */
  readonly from?: number;
};

/** A text with numbers of lines. */
export function CodeView({ label, text, marked = [], from = 1 }: CodeViewProps) {
  const lines = text.replace(/\n$/, '').split('\n');
  return (
    <pre class="code" role="region" aria-label={label} tabIndex={0}>
      {lines.map((line, index) => (
        <span class={marked.includes(index + from) ? 'line marked' : 'line'} key={index}>
          <span class="line-number" aria-hidden="true">
            {index + from}
          </span>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  );
}
