import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { TEXTS } from '../texts.js';

type Condition = {
  readonly condition: string;
  readonly wants: string;
  readonly subject?: string;
  readonly note?: string;
};

type Step = {
  readonly decoder: string;
  readonly place: string;
  readonly what: string;
  readonly matched: boolean;
  readonly pattern?: string;
};

type TriedRule = {
  readonly id: number;
  readonly level: number;
  /** 0 for the roots; a rule's parent is the last one before it with one less. */
  readonly depth: number;
  readonly result: 'failed' | 'final' | 'through' | 'passed';
  readonly failed?: Condition;
  readonly held?: readonly Condition[];
};

/** Answer of `PUT /logtest` with the options `explain` and `why`. */
export type Explained = {
  readonly messages: readonly string[];
  readonly explain?: {
    readonly predecoding?: Readonly<Record<string, string>>;
    readonly decoding: {
      readonly steps: readonly Step[];
      readonly decoder?: string;
      readonly fields: readonly { readonly name: string; readonly value: string }[];
    };
    readonly rules: readonly TriedRule[];
    readonly result: { readonly text: string; readonly ancestors: readonly number[] };
  };
  readonly why?: {
    readonly rule: number;
    readonly fired: boolean;
    readonly answer: string;
    readonly details: readonly string[];
  };
};

/** The way of a line through decoders and rules. What did not match is left out until somebody asks for it. */
export function ExplanationView({ explained: { explain, why, messages } }: { readonly explained: Explained }) {
  const [isAll, setAll] = useState(false);
  const texts = TEXTS.explain;
  if (explain === undefined) return <p class="empty">{messages.join(' ')}</p>;
  const { predecoding = {}, decoding, rules, result } = explain;
  const steps = decoding.steps.filter(({ matched }) => isAll || matched);
  const tried = rules.filter((rule) => isAll || rule.result !== 'failed');
  return (
    <div class="stack explained">
      <p>
        <strong>{result.text}</strong>
      </p>
      {why !== undefined && !why.fired && (
        <div class="missing">
          <p>{why.answer}</p>
          <ul>
            {why.details.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
      <label>
        <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.currentTarget.checked)} />{' '}
        {texts.all(decoding.steps.length, rules.length)}
      </label>
      <Part title={texts.header} pairs={Object.entries(predecoding)} />
      <h3>{texts.decoders(decoding.decoder)}</h3>
      <ol class="steps">
        {steps.map(({ decoder, what, matched, pattern, place }, index) => (
          <Tried key={index} isMatched={matched} title={decoder} note={place}>
            {what} {pattern !== undefined && <code>{pattern}</code>}
          </Tried>
        ))}
      </ol>
      <Part title={texts.fields} pairs={decoding.fields.map(({ name, value }) => [name, value] as const)} />
      <h3>{texts.rules}</h3>
      <ol class="steps">
        {tried.map(({ id, level, depth, result: outcome, failed, held = [] }, index) => (
          <Tried
            key={index}
            depth={depth}
            isMatched={outcome !== 'failed'}
            title={texts.rule(id, level)}
            note={outcome === 'passed' ? texts.passed : undefined}
          >
            {(failed === undefined ? held : [failed]).map((condition) => (
              <Met key={`${condition.condition} ${condition.wants}`} condition={condition} />
            ))}
          </Tried>
        ))}
      </ol>
    </div>
  );
}

type PartProps = { readonly title: string; readonly pairs: readonly (readonly [string, string])[] };

function Part({ title, pairs }: PartProps) {
  if (pairs.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <dl class="pairs">
        {pairs.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="mono">{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

type TriedProps = {
  readonly isMatched: boolean;
  readonly title: string;
  readonly depth?: number;
  readonly note?: string | undefined;
  readonly children: ComponentChildren;
};

function Tried({ isMatched, title, depth = 0, note, children }: TriedProps) {
  return (
    <li
      class={isMatched ? 'matched' : undefined}
      style={{ marginInlineStart: `${String(Math.min(depth, 8) * 0.8)}rem` }}
    >
      <span aria-hidden="true">{isMatched ? '✓' : '✗'} </span>
      <span class="unseen">{isMatched ? TEXTS.explain.yes : TEXTS.explain.no} </span>
      <strong>{title}</strong> {children} {note !== undefined && <span class="hint">{note}</span>}
    </li>
  );
}

function Met({ condition: { condition, wants, subject, note } }: { readonly condition: Condition }) {
  return (
    <span class="condition">
      {condition} <code>{wants}</code>
      {subject !== undefined && (
        <>
          {' '}
          {TEXTS.explain.lookedAt} <code>{subject}</code>
        </>
      )}
      {note !== undefined && ` (${note})`}
    </span>
  );
}
