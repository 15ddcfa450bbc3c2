import { type Explained, ExplanationView } from '../../parts/explanation-view.js';
import { LevelBadge, StateBadge } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';

const T = TEXTS.rules.try;

/** A line, and what the engine made of it. */
export type Tried = Explained & {
  readonly line: string;
  readonly alert?: boolean;
  readonly output?: {
    readonly rule?: { readonly id: string; readonly level: number; readonly description: string };
    readonly decoder?: { readonly name?: string };
  };
};

/** One line: rule, decoder, fields, alert, and how it came to that. */
export function LogtestResult({ tried, isLatest }: { readonly tried: Tried; readonly isLatest: boolean }) {
  const { line, alert = false, output, explain, messages, why } = tried;
  const rule = output?.rule;
  const fields = explain?.decoding.fields ?? [];
  const problems = messages.filter((text) => !text.startsWith('INFO'));
  return (
    <li class="card">
      <pre class="line-tried">{line}</pre>
      <p class="verdict">
        {rule === undefined ? (
          <StateBadge state={T.noRule} tone="plain" />
        ) : (
          <>
            <LevelBadge level={rule.level} /> <a href={hrefOf(['rules', rule.id])}>{rule.id}</a> {rule.description}
          </>
        )}{' '}
        <StateBadge state={alert ? T.alert : T.noAlert} tone={alert ? 'bad' : 'plain'} />
      </p>
      {problems.map((text) => (
        <p class="failed" key={text}>
          {text}
        </p>
      ))}
      {why !== undefined && !why.fired && <p>{why.answer}</p>}
      <p>
        {T.decoder}: <strong>{output?.decoder?.name ?? T.noDecoder}</strong>
      </p>
      {fields.length > 0 && (
        <dl class="conditions" aria-label={T.fields}>
          {fields.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="mono">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {explain !== undefined && (
        <details open={isLatest && !alert}>
          <summary>{T.way}</summary>
          <ExplanationView explained={tried} />
        </details>
      )}
    </li>
  );
}
