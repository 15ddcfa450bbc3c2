import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { hrefOf } from '../../router/location.js';
import { go } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { factsOf, isName, type Kind, mayWrite } from './ruleset-file.js';

const T = TEXTS.rules;

/** Begins a file; it is made when it is saved. */
export function NewFileButton({ kind }: { readonly kind: Kind }) {
  const { session } = useConsole();
  const [isAsking, setAsking] = useState(false);
  if (!mayWrite(session, kind)) return null;
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        {T.newFile}
      </button>
      {isAsking && <NameDialog kind={kind} onClose={() => setAsking(false)} />}
    </>
  );
}

function NameDialog({ kind, onClose }: { readonly kind: Kind; readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [error, setError] = useState<string>();
  const { extension } = factsOf(kind);
  const begin = () => {
    if (!isName(kind, name)) {
      setError(T.badName);
      return;
    }
    onClose();
    const folder = kind === 'tests' ? 'etc/tests' : `etc/${kind}`;
    go(hrefOf(['rules'], { tab: 'files', kind, file: `${folder}/${name}`, new: '1' }));
  };
  return (
    <Dialog title={T.newFileTitle} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          begin();
        }}
      >
        <Field label={T.fileName} hint={T.fileNameHint(extension)} error={error}>
          {(attributes) => (
            <input
              {...attributes}
              required
              value={name}
              onInput={(event) => setName(event.currentTarget.value.trim())}
            />
          )}
        </Field>
        <div class="actions">
          <button type="button" onClick={onClose}>
            {TEXTS.common.cancel}
          </button>
          <button class="primary">{T.create}</button>
        </div>
      </form>
    </Dialog>
  );
}
