import { useConsole } from '../../client/console-context.js';
import { Failure } from '../../client/failure.js';
import { type Query, useQuery } from '../../client/use-query.js';
import { Confirm } from '../../parts/dialog.js';
import { DiffView } from '../../parts/diff-view.js';
import { Failed, Loaded } from '../../parts/loaded.js';
import { TEXTS } from '../../texts.js';
import { putInForce } from './put-in-force.js';
import { addressOf, placeOf, type Problem, problemOf, rawOf, type RulesetFile } from './ruleset-file.js';
import { type Report, TestsReport } from './tests-report.js';

const T = TEXTS.rules;

type SaveDialogProps = {
  readonly file: RulesetFile;
  readonly isNew: boolean;
  /** What was there when somebody began to type; empty for a new file. */
  readonly stored: string;
  readonly text: string;
  readonly onClose: () => void;
  readonly onSaved: () => void;
  /** Told where the server sees a mistake. */
  readonly onRefused: (problem: Problem) => void;
};

/** What changes, and what the tests say to it, before the file is stored and in force. */
export function SaveDialog({ file, isNew, stored, text, onClose, onSaved, onRefused }: SaveDialogProps) {
  const parts = useConsole();
  const { api, session } = parts;
  const current = useQuery(isNew ? undefined : `file-now ${file.path}`, (client, signal) =>
    client.text(addressOf(file), rawOf(file), signal),
  );
  const mayTest = session.mayExplain;
  const tests = useQuery(mayTest ? `tests-with ${file.path} ${text}` : undefined, (client, signal) =>
    client.exchange<Report>('PUT', '/rules/tests', {
      json: { files: [{ path: file.path, content: text }], tests: 'own' },
      params: { wait_for_complete: true },
      signal,
    }),
  );
  const isFailing = tests.data !== undefined && (!tests.data.loads || tests.data.failed > 0);
  const action = file.kind === 'tests' ? T.saveTest : T.save;
  return (
    <Confirm
      wide
      title={T.reviewTitle(file.path)}
      action={isFailing ? T.saveAnyway : action}
      isDangerous={isFailing}
      isReady={isNew || !current.isLoading}
      onClose={onClose}
      onConfirm={async () => {
        try {
          await api.send('PUT', addressOf(file), {
            octets: text,
            params: { ...placeOf(file), overwrite: !isNew, wait_for_complete: true },
          });
        } catch (error) {
          if (error instanceof Failure && error.status === 200) onRefused(problemOf(file.path, error));
          throw error;
        }
        await putInForce(parts, file, T.saved(file.path));
        onSaved();
      }}
    >
      <h3>{T.difference}</h3>
      {isNew ? (
        <DiffView label={T.difference} before="" after={text} />
      ) : (
        <Loaded query={current}>
          {(now) => (
            <>
              {now !== stored && <p class="failed">{T.changedMeanwhile}</p>}
              <DiffView label={T.difference} before={now} after={text} />
            </>
          )}
        </Loaded>
      )}
      <h3>{T.tests}</h3>
      {mayTest ? <Tested tests={tests} /> : <p class="hint">{T.test.denied}</p>}
    </Confirm>
  );
}

function Tested({ tests: { data, error, reload } }: { readonly tests: Query<Report> }) {
  if (data !== undefined) return <TestsReport report={data} />;
  if (error !== undefined) return <Failed error={error} retry={reload} />;
  return (
    <p class="loading" role="status">
      {T.test.running}
    </p>
  );
}
