import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { Field } from '../../parts/field.js';
import { Failed } from '../../parts/loaded.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { LogtestResult, type Tried } from './logtest-result.js';

const T = TEXTS.rules.try;

/** Lines tried at once: each is a request. */
const MOST_LINES = 50;

type Answer = Omit<Tried, 'line'> & { readonly token?: string };

/** Lines of logs on their way through decoders and rules, in a session that remembers those before. */
export function LogtestTab() {
  const { session } = useConsole();
  const logtest = useLogtest();
  if (!session.may('logtest:run')) return <p class="empty">{T.denied}</p>;
  const { token, tried, error, isBusy } = logtest;
  return (
    <>
      <LinesForm isBusy={isBusy} onRun={logtest.run}>
        <button type="button" disabled={isBusy || token === undefined} onClick={() => void logtest.begin()}>
          {T.again}
        </button>
        <span class="hint" role="status">
          {token === undefined ? T.noSession : T.session(token)}
        </span>
      </LinesForm>
      {error !== undefined && <Failed error={error} />}
      {tried.length > 0 && <h2>{T.results}</h2>}
      <ol class="tried" aria-label={T.results}>
        {tried.map((each, index) => (
          <LogtestResult key={tried.length - index} tried={each} isLatest={index === 0} />
        ))}
      </ol>
    </>
  );
}

/** What is asked of the engine. */
type Asked = { readonly lines: string; readonly location: string; readonly why: string };

/** A session of the engine, and what came of the lines in it, the latest first. */
function useLogtest() {
  const { api, session } = useConsole();
  const [token, setToken] = useState<string>();
  const [tried, setTried] = useState<readonly Tried[]>([]);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = async ({ lines, location, why }: Asked) => {
    setBusy(true);
    setError(undefined);
    let last = token;
    try {
      for (const line of linesOf(lines)) {
        const answer = await api.exchange<Answer>('PUT', '/logtest', {
          json: {
            event: line,
            log_format: 'syslog',
            location,
            ...(last === undefined ? {} : { token: last }),
            ...(session.mayExplain
              ? { options: { explain: true, ...(/^\d+$/.test(why) ? { why: Number(why) } : {}) } }
              : {}),
          },
        });
        last = answer.token ?? last;
        setToken(last);
        setTried((before) => [{ ...answer, line }, ...before]);
      }
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const begin = async () => {
    setTried([]);
    setToken(undefined);
    setError(undefined);
    // A session that is gone already is as good as closed.
    if (token !== undefined) await api.exchange('DELETE', `/logtest/sessions/${token}`).catch(() => undefined);
  };
  return { token, tried, error, isBusy, run, begin };
}

type LinesFormProps = {
  readonly isBusy: boolean;
  readonly onRun: (asked: Asked) => Promise<void>;
  readonly children: ComponentChildren;
};

/** What is to be tried; the place may say it. */
function LinesForm({ isBusy, onRun, children }: LinesFormProps) {
  const [place] = useParams();
  const [lines, setLines] = useState(place.get('line') ?? '');
  const [location, setLocation] = useState(place.get('location') ?? 'console');
  const [why, setWhy] = useState(place.get('why') ?? '');
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void onRun({ lines, location, why });
      }}
    >
      <Field label={T.lines} hint={T.linesHint}>
        {(attributes) => (
          <textarea
            {...attributes}
            class="mono"
            rows={4}
            required
            spellcheck={false}
            value={lines}
            onInput={(event) => setLines(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="row">
        <Field label={T.location}>
          {(attributes) => (
            <input
              {...attributes}
              required
              value={location}
              onInput={(event) => setLocation(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={T.why}>
          {(attributes) => (
            <input
              {...attributes}
              inputMode="numeric"
              pattern="[0-9]*"
              placeholder={T.whyHint}
              value={why}
              onInput={(event) => setWhy(event.currentTarget.value.trim())}
            />
          )}
        </Field>
        <button class="primary" disabled={isBusy}>
          {T.run}
        </button>
        {children}
      </div>
    </form>
  );
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, MOST_LINES);
}
