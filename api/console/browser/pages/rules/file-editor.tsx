import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { type Draft, typed } from '../../client/draft.js';
import { useQuery } from '../../client/use-query.js';
import { useSettled } from '../../client/use-settled.js';
import { CodeEditor, MOST_EDITED } from '../../parts/code-editor.js';
import { CodeView } from '../../parts/code-view.js';
import { LeaveGuard } from '../../parts/leave-guard.js';
import { Failed, Loaded } from '../../parts/loaded.js';
import { StateBadge } from '../../parts/small.js';
import { hrefOf, type Place } from '../../router/location.js';
import { go, useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { RemoveDialog } from './remove-dialog.js';
import {
  addressOf,
  factsOf,
  isOwn,
  mayWrite,
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
        <Editor file={file} isNew stored="" onSaved={saved} />
      ) : (
        <Loaded query={stored}>{(text) => <Contents file={file} text={text} onSaved={saved} />}</Loaded>
      )}
    </div>
  );
}

type ContentsProps = { readonly file: RulesetFile; readonly text: string; readonly onSaved: () => void };

function Contents({ file, text, onSaved }: ContentsProps) {
  const { session } = useConsole();
  const mayChange = mayWrite(session, file.kind);
  const isTooLarge = text.length > MOST_EDITED;
  if (isOwn(file) && mayChange && !isTooLarge) {
    return <Editor file={file} isNew={false} stored={text} onSaved={onSaved} />;
  }
  return (
    <>
      <p class="hint">{reasonOf(file, mayChange)}</p>
      <CodeView label={file.path} text={text} />
    </>
  );
}

/** Why a file cannot be changed here. */
function reasonOf(file: RulesetFile, mayChange: boolean): string {
  if (!isOwn(file)) return T.readOnly.shipped;
  return mayChange ? TEXTS.common.tooLarge(MOST_EDITED) : T.readOnly.denied;
}

type EditorProps = {
  readonly file: RulesetFile;
  readonly isNew: boolean;
  readonly stored: string;
  readonly onSaved: () => void;
};

function Editor({ file, isNew, stored, onSaved }: EditorProps) {
  const { session } = useConsole();
  const template = isNew ? factsOf(file.kind).template : undefined;
  const [draft, setDraft] = useState<Draft | undefined>(
    template === undefined ? undefined : { base: '', text: template },
  );
  const [refused, setRefused] = useState<{ text: string; problem: Problem }>();
  const [asking, setAsking] = useState<Deed>();
  const text = draft?.text ?? stored;
  const isChanged = text !== stored;
  const mayCheck = session.mayExplain;
  const { check, settled } = useCheck(file, text, mayCheck && isChanged);
  const isChecked = check.data !== undefined && settled === text;
  const problems = [
    ...(isChecked && isChanged ? problemsIn(file.path, check.data.messages) : []),
    ...(refused?.text === text ? [refused.problem] : []),
  ];
  return (
    <>
      <LeaveGuard isChanged={isChanged && text !== template} keepsAt={(place) => showsFile(place, file)} />
      <CodeEditor
        label={file.path}
        value={text}
        onInput={(value) => setDraft((before) => typed(before, stored, value))}
        problems={problems}
      />
      {isChecked && isChanged && <Elsewhere problems={problemsElsewhere(file.path, check.data.messages)} />}
      {check.error !== undefined && <Failed error={check.error} retry={check.reload} />}
      <div class="card-head">
        <p role="status">
          {!isChanged ? '' : !mayCheck ? T.notChecked : isChecked ? <Verdict report={check.data} /> : T.checking}
        </p>
        <Actions isNew={isNew} isChanged={isChanged} onAsk={setAsking} onDiscard={() => setDraft(undefined)} />
      </div>
      {asking === 'save' && (
        <SaveDialog
          file={file}
          isNew={isNew}
          stored={draft?.base ?? stored}
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
          onRemoved={() => go(hrefOf(['rules'], { tab: 'files', kind: file.kind }), { anyway: true })}
        />
      )}
    </>
  );
}

function showsFile({ path: [page], params }: Place, file: RulesetFile): boolean {
  return page === 'rules' && params.get('tab') === 'files' && params.get('file') === file.path;
}

type Deed = 'save' | 'remove';

type ActionsProps = {
  readonly isNew: boolean;
  readonly isChanged: boolean;
  readonly onAsk: (deed: Deed) => void;
  readonly onDiscard: () => void;
};

function Actions({ isNew, isChanged, onAsk, onDiscard }: ActionsProps) {
  return (
    <div class="actions">
      {!isNew && (
        <button type="button" class="danger" onClick={() => onAsk('remove')}>
          {T.remove}
        </button>
      )}
      <button type="button" disabled={!isChanged} onClick={onDiscard}>
        {T.discard}
      </button>
      <button type="button" class="primary" disabled={!isChanged} onClick={() => onAsk('save')}>
        {T.review}
      </button>
    </div>
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
