import { useState } from 'preact/hooks';
import { DEFAULT_FROM, isoOf, ofLocalField, readTime, SPANS, toLocalField } from '../client/time-span.js';
import { useParams } from '../router/use-place.js';
import { TEXTS } from '../texts.js';
import { Field } from './field.js';

type TimeSpan = {
  /** As the API takes them. */
  readonly from: string;
  readonly to: string | undefined;
  /** From a moment of the chart to another, seconds since the epoch. */
  readonly choose: (from: number, to: number) => void;
};

/** The span of time that the URL says (`from`, `to`), or the last 24 hours. */
export function useTimeSpan(): TimeSpan {
  const [params, change] = useParams();
  return {
    from: params.get('from') ?? DEFAULT_FROM,
    to: params.get('to') ?? undefined,
    choose: (from, to) => change({ from: isoOf(Math.floor(from) * 1000), to: isoOf(Math.ceil(to) * 1000) }),
  };
}

const CUSTOM = 'custom';

/** Chooses the span of time that a page is about: one that ends now, or one between two moments. */
export function TimeRange() {
  const [, change] = useParams();
  const { from, to } = useTimeSpan();
  const [isAsking, setAsking] = useState(false);
  const isOffered = to === undefined && (SPANS as readonly string[]).includes(from);
  const isCustom = isAsking || !isOffered;
  const choose = (value: string) => {
    setAsking(value === CUSTOM);
    if (value !== CUSTOM) change({ from: value, to: undefined });
  };
  return (
    <div class="row">
      <Field label={TEXTS.time.range}>
        {(attributes) => (
          <select
            {...attributes}
            value={isCustom ? CUSTOM : from}
            onChange={(event) => choose(event.currentTarget.value)}
          >
            {SPANS.map((span) => (
              <option key={span} value={span}>
                {TEXTS.time.spans[span]}
              </option>
            ))}
            <option value={CUSTOM}>{TEXTS.time.custom}</option>
          </select>
        )}
      </Field>
      {isCustom && (
        <CustomRange
          key={`${from} ${to ?? ''}`}
          from={from}
          to={to}
          onChoose={(changes) => {
            setAsking(false);
            change({ ...changes });
          }}
        />
      )}
    </div>
  );
}

type CustomRangeProps = {
  readonly from: string;
  readonly to: string | undefined;
  readonly onChoose: (changes: { readonly from: string | undefined; readonly to: string | undefined }) => void;
};

/** Two moments; without the second the time goes on. */
function CustomRange({ from, to, onChoose }: CustomRangeProps) {
  const now = Date.now();
  const shown = (text: string | undefined) => {
    const ms = text === undefined ? undefined : readTime(text, now);
    return ms === undefined ? '' : toLocalField(ms);
  };
  const [first, setFirst] = useState(shown(from));
  const [last, setLast] = useState(shown(to));
  // As moments: an hour of a night in autumn comes twice.
  const [begin, end] = [ofLocalField(first), ofLocalField(last)];
  const isWrong = begin !== undefined && end !== undefined && begin >= end;
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) onChoose({ from: begin, to: end });
      }}
    >
      <Field label={TEXTS.time.from}>
        {(attributes) => (
          <input
            {...attributes}
            type="datetime-local"
            step={1}
            value={first}
            onInput={(event) => setFirst(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label={TEXTS.time.to} error={isWrong ? TEXTS.time.wrongOrder : undefined}>
        {(attributes) => (
          <input
            {...attributes}
            type="datetime-local"
            step={1}
            value={last}
            onInput={(event) => setLast(event.currentTarget.value)}
          />
        )}
      </Field>
      <button>{TEXTS.time.apply}</button>
    </form>
  );
}
