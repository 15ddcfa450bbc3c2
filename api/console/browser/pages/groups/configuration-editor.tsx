import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { type Draft, typed } from '../../client/draft.js';
import { type Query, useQuery } from '../../client/use-query.js';
import { useSettled } from '../../client/use-settled.js';
import { CodeEditor, MOST_EDITED } from '../../parts/code-editor.js';
import { CodeView } from '../../parts/code-view.js';
import { Failed, Loaded } from '../../parts/loaded.js';
import { StateBadge } from '../../parts/small.js';
import { TEXTS } from '../../texts.js';
import { ReviewDialog } from './review-dialog.js';
import { fileOf, pathOf, problemsOf, type Validation } from './validation.js';

const T = TEXTS.groups;
/** Milliseconds without a key after which a text is checked. */
const PAUSE_MS = 600;

type ConfigurationEditorProps = {
  readonly name: string;
  readonly members: number;
  /** What was typed and is not stored; it outlives this part of the page. */
  readonly draft: Draft | undefined;
  readonly onDraft: (draft: Draft | undefined) => void;
  /** Told the sum of the files before, where they change. */
  readonly onSaved: (oldSum: string | undefined) => void;
};

/** The agent.conf of a group: checked while it is typed, and shown with what it changes before it goes out. */
export function ConfigurationEditor(props: ConfigurationEditorProps) {
  const [version, setVersion] = useState(0);
  const stored = useQuery(`agent-conf ${props.name} ${String(version)}`, (api, signal) =>
    api.text(fileOf(props.name), { raw: true }, signal),
  );
  return (
    <Loaded query={stored}>
      {(text) =>
        text.length > MOST_EDITED ? (
          <>
            <p class="hint">{TEXTS.common.tooLarge(MOST_EDITED)}</p>
            <CodeView label={T.editor} text={text} />
          </>
        ) : (
          <Editor
            {...props}
            stored={text}
            onSaved={(oldSum) => {
              props.onDraft(undefined);
              setVersion((before) => before + 1);
              props.onSaved(oldSum);
            }}
          />
        )
      }
    </Loaded>
  );
}

function Editor({
  name,
  members,
  draft,
  onDraft,
  onSaved,
  stored,
}: ConfigurationEditorProps & { readonly stored: string }) {
  const { session } = useConsole();
  const [isReviewing, setReviewing] = useState(false);
  const mayChange = session.may('group:update_config');
  const text = draft?.text ?? stored;
  const settled = useSettled(text, PAUSE_MS);
  const check = useQuery(mayChange && settled.trim() !== '' ? `check ${name} ${settled}` : undefined, (api, signal) =>
    api.exchange<Validation>('PUT', pathOf(name, '/validation'), { xml: settled, signal }),
  );
  const isChanged = text !== stored;
  const isChecked = settled === text && check.data !== undefined;
  const isValid = isChecked && check.data.status === 'OK';
  return (
    <div class="stack">
      {!mayChange && <p class="hint">{T.mayNot}</p>}
      <CodeEditor
        label={T.editor}
        value={text}
        onInput={(value) => onDraft(typed(draft, stored, value))}
        isReadOnly={!mayChange}
        problems={isChecked ? problemsOf(check.data) : []}
      />
      {mayChange && (
        <Verdict check={check} isCurrent={isChecked} isChanged={isChanged} onRevert={() => onDraft(undefined)}>
          <button type="button" class="primary" disabled={!isValid || !isChanged} onClick={() => setReviewing(true)}>
            {T.review}
          </button>
        </Verdict>
      )}
      {isReviewing && isValid && (
        <ReviewDialog
          name={name}
          members={members}
          known={draft?.base ?? stored}
          text={text}
          laidOut={check.data.content ?? text}
          onClose={() => setReviewing(false)}
          onSaved={onSaved}
        />
      )}
    </div>
  );
}

type VerdictProps = {
  readonly check: Query<Validation>;
  /** Whether the check is about the text as it stands. */
  readonly isCurrent: boolean;
  readonly isChanged: boolean;
  readonly onRevert: () => void;
  readonly children: ComponentChildren;
};

/** What the manager says of the text, with what can be done with it. */
function Verdict({ check, isCurrent, isChanged, onRevert, children }: VerdictProps) {
  const verdict = isCurrent ? check.data : undefined;
  const isValid = verdict?.status === 'OK';
  return (
    <>
      <div class="card-head">
        <p role="status">
          {verdict !== undefined && (
            <StateBadge state={isValid ? T.valid : T.invalid} tone={isValid ? 'good' : 'bad'} />
          )}
          {verdict === undefined && check.error === undefined && T.checking}
        </p>
        <div class="actions">
          <button type="button" disabled={!isChanged} onClick={onRevert}>
            {T.revert}
          </button>
          {children}
        </div>
      </div>
      {check.error !== undefined && <Failed error={check.error} retry={check.reload} />}
      {verdict !== undefined && verdict.warnings.length > 0 && (
        <section>
          <h2>{T.warnings}</h2>
          <ul class="bare">
            {verdict.warnings.map(({ line, message }) => (
              <li key={`${String(line)} ${message}`}>{`${T.line(line)} ${message}`}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
