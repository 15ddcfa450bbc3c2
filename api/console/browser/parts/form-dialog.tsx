import { useRef } from 'preact/hooks';
import { useDeed } from '../client/use-deed.js';
import { Dialog, DialogFoot } from './dialog.js';
import { Field } from './field.js';

type FormField = {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'text' | 'password';
};

type FormDialogProps = {
  readonly title: string;
  /** The first one takes the focus. */
  readonly fields: readonly FormField[];
  readonly action: string;
  /** Does it with what was typed, by the names of the fields; blanks around a text do not count. Its failure is shown, and the form stays. */
  readonly onSubmit: (values: Readonly<Record<string, string>>) => Promise<void>;
  readonly onClose: () => void;
};

/** A few texts that are asked for at once; they are forgotten with the form. */
export function FormDialog({ title, fields, action, onSubmit, onClose }: FormDialogProps) {
  const form = useRef<HTMLFormElement>(null);
  const { run, isBusy, error } = useDeed(onSubmit, onClose);
  const submit = () => {
    if (form.current === null) return;
    const typed = new FormData(form.current);
    const values = fields.map(({ name, type }) => {
      const value = String(typed.get(name) ?? '');
      return [name, type === 'password' ? value : value.trim()];
    });
    void run(Object.fromEntries(values) as Readonly<Record<string, string>>);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {fields.map(({ name, label, hint, type = 'text' }, index) => (
          <Field key={name} label={label} hint={hint}>
            {(attributes) => {
              const shared = { ...attributes, name, required: true, autofocus: index === 0 } as const;
              return type === 'password' ? (
                <input {...shared} type="password" autocomplete="new-password" />
              ) : (
                <input {...shared} autocomplete="off" />
              );
            }}
          </Field>
        ))}
        <DialogFoot error={error} onClose={onClose}>
          <button class="primary" disabled={isBusy}>
            {action}
          </button>
        </DialogFoot>
      </form>
    </Dialog>
  );
}
