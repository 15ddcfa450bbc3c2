import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { useQuery } from '../../client/use-query.js';
import { Loaded } from '../../parts/loaded.js';
import { TEXTS } from '../../texts.js';
import { type Report, TestsReport } from './tests-report.js';

const T = TEXTS.rules.test;

/** Runs tests on the ruleset as it is stored. */
export function RunTests() {
  const { session } = useConsole();
  const [asked, setAsked] = useState<{ tests: 'own' | 'all'; turn: number }>();
  const query = useQuery(
    asked === undefined ? undefined : `tests ${asked.tests} ${String(asked.turn)}`,
    (api, signal) =>
      api.exchange<Report>('PUT', '/rules/tests', {
        json: { tests: asked?.tests },
        params: { wait_for_complete: true },
        signal,
      }),
  );
  if (!session.mayExplain) return <p class="hint">{T.denied}</p>;
  const run = (tests: 'own' | 'all') => setAsked((before) => ({ tests, turn: (before?.turn ?? 0) + 1 }));
  const isRunning = asked !== undefined && query.isLoading;
  return (
    <>
      <div class="row">
        <button type="button" disabled={isRunning} onClick={() => run('own')}>
          {T.runOwn}
        </button>
        <button type="button" disabled={isRunning} onClick={() => run('all')}>
          {T.runAll}
        </button>
      </div>
      {asked !== undefined && <Loaded query={query}>{(report) => <TestsReport report={report} />}</Loaded>}
    </>
  );
}
