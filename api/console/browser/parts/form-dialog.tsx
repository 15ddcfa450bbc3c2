import { useRef, useState } from 'preact/hooks';
import { describe } from '../client/notices.js';
import { useDeed } from '../client/use-deed.js';
import { Dialog, DialogFoot } from './dialog.js';
import { Field } from './field.js';

type FormField = {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'text' | 'password';
  /** Most characters that can be typed. */
  readonly maxLength?: number;
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

/** A few texts that are asked for at once, and all needed; they are forgotten with the form. */
export function FormDialog({ title, fields, action, onSubmit, onClose }: FormDialogProps) {
  const form = useRef<HTMLFormElement>(null);
  const { run, isBusy, error } = useDeed(onSubmit, onClose);
  const [isWhole, setWhole] = useState(false);
  // What is wrong is said at the text that it is about, as far as that is known.
  const fieldError = error === undefined || fields.length > 1 ? undefined : describe(error);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={form}
        class="stack"
        onInput={() => setWhole(Object.values(valuesOf(form.current, fields)).every((value) => value !== ''))}
        onSubmit={(event) => {
          event.preventDefault();
          void run(valuesOf(form.current, fields));
        }}
      >
        {fields.map(({ name, label, hint, type = 'text', maxLength }, index) => (
          <Field key={name} label={label} hint={hint} error={fieldError}>
            {(attributes) => {
              const shared = { ...attributes, name, maxLength, required: true, autofocus: index === 0 } as const;
              return type === 'password' ? (
                <input {...shared} type="password" autocomplete="new-password" />
              ) : (
                <input {...shared} autocomplete="off" />
              );
            }}
          </Field>
        ))}
        <DialogFoot error={fieldError === undefined ? error : undefined} onClose={onClose}>
          <button class="primary" disabled={isBusy || !isWhole}>
            {action}
          </button>
        </DialogFoot>
      </form>
    </Dialog>
  );
}

/** What was typed, by the names of the fields; blanks around a text do not count, those around a password do. */
function valuesOf(form: HTMLFormElement | null, fields: readonly FormField[]): Readonly<Record<string, string>> {
  const typed = new FormData(form ?? undefined);
  return Object.fromEntries(
    fields.map(({ name, type }) => {
      const value = String(typed.get(name) ?? '');
      return [name, type === 'password' ? value : value.trim()];
    }),
  );
}
