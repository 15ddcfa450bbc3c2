import { useRef, useState } from 'preact/hooks';
import { describe } from '../../client/notices.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { TEXTS } from '../../texts.js';

type FormField = {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'text' | 'password';
};

type FormDialogProps = {
  readonly title: string;
  readonly fields: readonly FormField[];
  readonly action: string;
  /** Does it with what was typed, by the names of the fields; its failure is shown, and the form stays. */
  readonly onSubmit: (values: Readonly<Record<string, string>>) => Promise<void>;
  readonly onClose: () => void;
};

/** A few texts that are asked for at once; they are forgotten with the form. */
export function FormDialog({ title, fields, action, onSubmit, onClose }: FormDialogProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async () => {
    if (form.current === null) return;
    setBusy(true);
    setError(undefined);
    try {
      const values = [...new FormData(form.current)].map(([name, value]) => [name, String(value)] as const);
      await onSubmit(Object.fromEntries(values));
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {fields.map(({ name, label, hint, type = 'text' }) => (
          <Field key={name} label={label} hint={hint}>
            {(attributes) =>
              type === 'password' ? (
                <input {...attributes} name={name} type="password" required autocomplete="new-password" />
              ) : (
                <input {...attributes} name={name} required autocomplete="off" />
              )
            }
          </Field>
        ))}
        {error !== undefined && (
          <p class="failed" role="alert">
            {describe(error)}
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {TEXTS.common.cancel}
          </button>
          <button class="primary" disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
