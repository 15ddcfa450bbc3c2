import { useId, useMemo, useRef } from 'preact/hooks';
import { gutterOf } from './gutter.js';

/** Characters of a text that can be edited here: with more the browser is slow at each key. */
export const MOST_EDITED = 500_000;

type CodeEditorProps = {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly isReadOnly?: boolean;
  /** What is wrong, by line from 1; a line of 0 is about the whole. */
  readonly problems?: readonly { readonly line: number; readonly text: string }[];
};

/** A text to edit, with numbers of lines and what is wrong in them. */
export function CodeEditor({ label, value, onInput, isReadOnly = false, problems = [] }: CodeEditorProps) {
  const id = useId();
  const gutter = useRef<HTMLPreElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const count = value.split('\n').length;
  const wrong = problems.map(({ line }) => line).join(' ');
  const pieces = useMemo(() => gutterOf(count, new Set(wrong.split(' ').map(Number))), [count, wrong]);
  const goTo = (line: number) => {
    const start =
      value
        .split('\n')
        .slice(0, line - 1)
        .join('\n').length + (line > 1 ? 1 : 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start);
  };
  return (
    <div class="editor">
      <div class="editor-frame">
        <pre class="gutter" ref={gutter} aria-hidden="true">
          {pieces.map(({ text, isWrong }, index) => (
            <span class={isWrong ? 'wrong' : undefined} key={index}>
              {text}
            </span>
          ))}
        </pre>
        <textarea
          ref={area}
          aria-label={label}
          aria-describedby={problems.length > 0 ? id : undefined}
          aria-invalid={problems.length > 0}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          wrap="off"
          readOnly={isReadOnly}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          onScroll={(event) => {
            if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop;
          }}
        />
      </div>
      <div id={id} role="status">
        <ul class="problems">
          {problems.map(({ line, text }) => (
            <li key={`${String(line)} ${text}`}>
              {line > 0 && (
                <button type="button" class="link" onClick={() => goTo(line)}>
                  {line}
                </button>
              )}{' '}
              {text}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
