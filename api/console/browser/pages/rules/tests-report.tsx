import { useState } from 'preact/hooks';
import { StateBadge } from '../../parts/small.js';
import { TEXTS } from '../../texts.js';
import type { Message } from './ruleset-file.js';

const T = TEXTS.rules.test;

/** What `PUT /rules/tests` answers. */
export type Report = {
  readonly loads: boolean;
  readonly messages: readonly Message[];
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly results: readonly Result[];
};

type Result = {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly problems: readonly {
    readonly what: string;
    readonly expected?: string;
    readonly actual?: string;
    readonly text: string;
  }[];
  readonly explanation: readonly string[];
};

/** What tests came to: of those that failed, what was expected and what came. */
export function TestsReport({ report }: { readonly report: Report }) {
  const [isAll, setAll] = useState(false);
  const { loads, total, passed, failed, skipped, results } = report;
  if (!loads) return <p class="failed">{T.notLoaded}</p>;
  if (total === 0) return <p class="empty">{T.none}</p>;
  const shown = results.filter(({ status }) => isAll || status !== 'passed');
  return (
    <div class="stack" role="status">
      <p>
        <StateBadge state={T.summary(passed, failed, skipped)} tone={failed > 0 ? 'bad' : 'good'} />
      </p>
      {shown.length > 0 && (
        <ul class="results" aria-label={T.results}>
          {shown.map((result) => (
            <ResultItem key={`${result.file}:${String(result.line)} ${result.name}`} result={result} />
          ))}
        </ul>
      )}
      {passed > 0 && (
        <label>
          <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.currentTarget.checked)} />{' '}
          {T.showPassed}
        </label>
      )}
    </div>
  );
}

const TONES = { passed: 'good', failed: 'bad', skipped: 'plain' } as const;

function ResultItem({ result: { name, file, line, status, problems, explanation } }: { readonly result: Result }) {
  return (
    <li>
      <p>
        <StateBadge state={T[status]} tone={TONES[status]} /> <strong>{name}</strong>{' '}
        <span class="hint mono">
          {file}
          {line > 0 && `:${String(line)}`}
        </span>
      </p>
      {problems.map(({ what, expected, actual, text }) =>
        expected === undefined || actual === undefined ? (
          <p key={text}>{text}</p>
        ) : (
          <p key={text}>
            {what}: {T.expected.toLowerCase()} <code>{expected}</code>, {T.actual.toLowerCase()} <code>{actual}</code>
          </p>
        ),
      )}
      {explanation.length > 0 && (
        <details>
          <summary>{T.way}</summary>
          <pre class="code plain">{explanation.join('\n')}</pre>
        </details>
      )}
    </li>
  );
}
