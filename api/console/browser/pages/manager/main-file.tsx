import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { type Draft, typed } from '../../client/draft.js';
import { Failure } from '../../client/failure.js';
import { useQuery } from '../../client/use-query.js';
import { CodeEditor, MOST_EDITED } from '../../parts/code-editor.js';
import { CodeView } from '../../parts/code-view.js';
import { Confirm } from '../../parts/dialog.js';
import { DiffView } from '../../parts/diff-view.js';
import { LeaveGuard } from '../../parts/leave-guard.js';
import { Loaded } from '../../parts/loaded.js';
import type { Place } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import { RestartButton } from './restart-button.js';
import { type Scope, useScope } from './scope.js';

const T = TEXTS.manager;

/** The main configuration as it is written. */
export function MainFile() {
  const { session } = useConsole();
  const scope = useScope();
  const mayChange = session.may(scope.action('update_config'));
  const address = scope.path('configuration');
  const [version, setVersion] = useState(0);
  const query = useQuery(`${address} ${String(version)}`, (api, signal) => api.text(address, { raw: true }, signal));
  return (
    <Loaded query={query}>
      {(text) =>
        mayChange && text.length <= MOST_EDITED ? (
          <Editor scope={scope} stored={text} onSaved={() => setVersion((before) => before + 1)} />
        ) : (
          <>
            <p class="hint">{mayChange ? TEXTS.common.tooLarge(MOST_EDITED) : T.mayNotChange}</p>
            <CodeView label={T.file} text={text} />
          </>
        )
      }
    </Loaded>
  );
}

type EditorProps = { readonly scope: Scope; readonly stored: string; readonly onSaved: () => void };

function Editor({ scope, stored, onSaved }: EditorProps) {
  const { api, notices } = useConsole();
  const [draft, setDraft] = useState<Draft>();
  const [refused, setRefused] = useState<{ text: string; message: string }>();
  const [isAsking, setAsking] = useState(false);
  const text = draft?.text ?? stored;
  const isChanged = text !== stored;
  const check = async () => {
    try {
      const [path, params] = scope.some('configuration/validation');
      await api.list<object>(path, { ...params, wait_for_complete: true }).then(({ failed_items: [failed] }) => {
        if (failed !== undefined) throw new Failure(failed.error.message, { status: 200 });
      });
      notices.done(T.checked);
    } catch (error) {
      notices.failed(error);
    }
  };
  return (
    <div class="stack">
      <LeaveGuard isChanged={isChanged} keepsAt={(place) => showsFile(place, scope)} />
      <p class="hint">{T.fileHint}</p>
      <CodeEditor
        label={T.file}
        value={text}
        onInput={(value) => setDraft((before) => typed(before, stored, value))}
        problems={refused?.text === text ? [{ line: lineOf(refused.message), text: refused.message }] : []}
      />
      <div class="actions">
        <button type="button" onClick={() => void check()}>
          {T.check}
        </button>
        <RestartButton />
        <button type="button" disabled={!isChanged} onClick={() => setDraft(undefined)}>
          {T.discard}
        </button>
        <button type="button" class="primary" disabled={!isChanged} onClick={() => setAsking(true)}>
          {T.review}
        </button>
      </div>
      {isAsking && (
        <SaveDialog
          address={scope.path('configuration')}
          base={draft?.base ?? stored}
          text={text}
          onClose={() => setAsking(false)}
          onRefused={(message) => setRefused({ text, message })}
          onSaved={() => {
            setDraft(undefined);
            onSaved();
          }}
        />
      )}
    </div>
  );
}

function showsFile({ path: [page], params }: Place, { node = '' }: Scope): boolean {
  return (
    page === 'manager' &&
    (params.get('node') ?? '') === node &&
    params.get('tab') === 'configuration' &&
    params.get('view') === 'file'
  );
}

/** The line that a refusal names first; 0 when it names none. */
function lineOf(message: string): number {
  const [, line = '0'] = /\bline (\d+)/.exec(message) ?? /manager\.conf:(\d+)/.exec(message) ?? [];
  return Number(line);
}

type SaveDialogProps = {
  readonly address: string;
  /** What was there when somebody began to type. */
  readonly base: string;
  readonly text: string;
  readonly onClose: () => void;
  readonly onSaved: () => void;
  readonly onRefused: (message: string) => void;
};

function SaveDialog({ address, base, text, onClose, onSaved, onRefused }: SaveDialogProps) {
  const { api, notices } = useConsole();
  const current = useQuery('main file now', (client, signal) => client.text(address, { raw: true }, signal));
  return (
    <Confirm
      wide
      title={T.reviewTitle}
      action={T.save}
      isReady={!current.isLoading}
      onClose={onClose}
      onConfirm={async () => {
        try {
          await api.send('PUT', address, { octets: text, params: { wait_for_complete: true } });
        } catch (error) {
          if (error instanceof Failure && error.status === 200) onRefused(error.message);
          throw error;
        }
        notices.done(T.saved);
        onSaved();
      }}
    >
      <Loaded query={current}>
        {(now) => (
          <>
            {now !== base && <p class="failed">{T.changedMeanwhile}</p>}
            <DiffView label={T.difference} before={now} after={text} />
          </>
        )}
      </Loaded>
    </Confirm>
  );
}
