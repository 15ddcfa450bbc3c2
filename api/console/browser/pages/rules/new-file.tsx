import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { FormDialog } from '../../parts/form-dialog.js';
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
  const { extension } = factsOf(kind);
  return (
    <FormDialog
      title={T.newFileTitle}
      action={T.create}
      fields={[{ name: 'name', label: T.fileName, hint: T.fileNameHint(extension) }]}
      onClose={onClose}
      onSubmit={({ name = '' }) => {
        if (!isName(kind, name)) return Promise.reject(new Error(T.badName));
        const folder = kind === 'tests' ? 'etc/tests' : `etc/${kind}`;
        go(hrefOf(['rules'], { tab: 'files', kind, file: `${folder}/${name}`, new: '1' }));
        return Promise.resolve();
      }}
    />
  );
}
