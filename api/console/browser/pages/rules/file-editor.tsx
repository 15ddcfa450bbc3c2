import { useEffect, useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { useQuery } from '../../client/use-query.js';
import { useSettled } from '../../client/use-settled.js';
import { CodeEditor } from '../../parts/code-editor.js';
import { CodeView } from '../../parts/code-view.js';
import { Failed, Loaded } from '../../parts/loaded.js';
import { StateBadge } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { go, useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { RemoveDialog } from './remove-dialog.js';
import {
  addressOf,
  factsOf,
  isOwn,
  type Problem,
  problemsElsewhere,
  problemsIn,
  rawOf,
  type RulesetFile,
} from './ruleset-file.js';
import { SaveDialog } from './save-dialog.js';
import type { Report } from './tests-report.js';

const T = TEXTS.rules;
/** Milliseconds without a key after which a text is checked: a check loads the whole ruleset. */
const PAUSE_MS = 900;

type FileEditorProps = { readonly file: RulesetFile; readonly isNew: boolean };

/** One file: shown, and changed where it is the user's own. */
export function FileEditor({ file, isNew }: FileEditorProps) {
  const [version, setVersion] = useState(0);
  const [, change] = useParams();
  const stored = useQuery(isNew ? undefined : `file ${file.path} ${String(version)}`, (api, signal) =>
    api.text(addressOf(file), rawOf(file), signal),
  );
  const saved = () => {
    if (isNew) change({ new: undefined }, true);
    setVersion((before) => before + 1);
  };
  return (
    <div class="stack">
      <div class="card-head">
        <h2 class="mono">{file.path}</h2>
        <a href={hrefOf(['rules'], { tab: 'files', kind: file.kind })}>{T.back}</a>
      </div>
      {isNew ? (
        <Editor file={file} stored="" onSaved={saved} />
      ) : (
        <Loaded query={stored}>{(text) => <Contents file={file} text={text} onSaved={saved} />}</Loaded>
      )}
    </div>
  );
}

type ContentsProps = { readonly file: RulesetFile; readonly text: string; readonly onSaved: () => void };

function Contents({ file, text, onSaved }: ContentsProps) {
  const { session } = useConsole();
  const mayChange = session.may(`${factsOf(file.kind).action}:update`);
  if (isOwn(file) && mayChange) return <Editor file={file} stored={text} onSaved={onSaved} />;
  return (
    <>
      <p class="hint">{isOwn(file) ? T.readOnly.denied : T.readOnly.shipped}</p>
      <CodeView label={file.path} text={text} />
    </>
  );
}

type EditorProps = { readonly file: RulesetFile; readonly stored: string; readonly onSaved: () => void };

function Editor({ file, stored, onSaved }: EditorProps) {
  const { session } = useConsole();
  const [draft, setDraft] = useState<string | undefined>(stored === '' ? factsOf(file.kind).template : undefined);
  const [refused, setRefused] = useState<{ text: string; problem: Problem }>();
  const [asking, setAsking] = useState<'save' | 'remove'>();
  const text = draft ?? stored;
  const isChanged = text !== stored;
  const mayCheck = session.mayExplain;
  const { check, settled } = useCheck(file, text, mayCheck && isChanged);
  const isChecked = check.data !== undefined && settled === text;
  const problems = [
    ...(isChecked && isChanged ? problemsIn(file.path, check.data.messages) : []),
    ...(refused?.text === text ? [refused.problem] : []),
  ];
  useLeaveGuard(isChanged);
  return (
    <>
      <CodeEditor label={file.path} value={text} onInput={setDraft} problems={problems} />
      {isChecked && isChanged && <Elsewhere problems={problemsElsewhere(file.path, check.data.messages)} />}
      {check.error !== undefined && <Failed error={check.error} retry={check.reload} />}
      <div class="card-head">
        <p role="status">
          {!isChanged ? '' : !mayCheck ? T.notChecked : isChecked ? <Verdict report={check.data} /> : T.checking}
        </p>
        <div class="actions">
          {stored !== '' && session.may(`${factsOf(file.kind).action}:delete`) && (
            <button type="button" class="danger" onClick={() => setAsking('remove')}>
              {T.remove}
            </button>
          )}
          <button type="button" disabled={!isChanged} onClick={() => setDraft(undefined)}>
            {T.discard}
          </button>
          <button type="button" class="primary" disabled={!isChanged} onClick={() => setAsking('save')}>
            {T.review}
          </button>
        </div>
      </div>
      {asking === 'save' && (
        <SaveDialog
          file={file}
          stored={stored}
          text={text}
          onClose={() => setAsking(undefined)}
          onSaved={() => {
            setDraft(undefined);
            onSaved();
          }}
          onRefused={(problem) => setRefused({ text, problem })}
        />
      )}
      {asking === 'remove' && (
        <RemoveDialog
          file={file}
          onClose={() => setAsking(undefined)}
          onRemoved={() => go(hrefOf(['rules'], { tab: 'files', kind: file.kind }))}
        />
      )}
    </>
  );
}

/** Checks a text with the whole ruleset when somebody has stopped typing. */
function useCheck(file: RulesetFile, text: string, isWanted: boolean) {
  const settled = useSettled(text, PAUSE_MS);
  const check = useQuery(isWanted && settled === text ? `check ${file.path} ${settled}` : undefined, (api, signal) =>
    api.exchange<Report>('PUT', '/rules/tests', {
      json: { files: [{ path: file.path, content: settled }], tests: 'none' },
      params: { wait_for_complete: true },
      signal,
    }),
  );
  return { check, settled };
}

/** Asks before a page with something unsaved is closed or loaded again. */
function useLeaveGuard(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isChanged]);
}

function Verdict({ report: { loads, messages } }: { readonly report: Report }) {
  const isGood = loads && !messages.some(({ severity }) => severity === 'error');
  return <StateBadge state={isGood ? T.isGood : T.isBad} tone={isGood ? 'good' : 'bad'} />;
}

function Elsewhere({ problems }: { readonly problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <section class="failed">
      <h3>{T.inOtherFiles}</h3>
      <ul>
        {problems.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}
