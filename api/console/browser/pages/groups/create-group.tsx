import { useEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { describe } from '../../client/notices.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { hrefOf } from '../../router/location.js';
import { go } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';

const T = TEXTS.groups;

/** Makes a group, and goes to it. */
export function CreateGroup({ onClose }: { readonly onClose: () => void }) {
  const { api, notices, session } = useConsole();
  const [name, setName] = useState('');
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const create = async () => {
    setBusy(true);
    try {
      await api.send('POST', '/groups', { json: { group_id: name } });
      notices.done(T.created(name));
      onClose();
      go(hrefOf(['groups', name], { tab: 'configuration' }));
    } catch (failure) {
      if (session.isOpen) setError(describe(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog title={T.create} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <Field label={T.name} hint={T.nameHint} error={error}>
          {(attributes) => (
            <input
              {...attributes}
              ref={input}
              required
              maxLength={128}
              value={name}
              onInput={(event) => setName(event.currentTarget.value.trim())}
            />
          )}
        </Field>
        <div class="actions">
          <button type="button" onClick={onClose}>
            {TEXTS.common.cancel}
          </button>
          <button class="primary" disabled={isBusy || name === ''}>
            {T.create}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
