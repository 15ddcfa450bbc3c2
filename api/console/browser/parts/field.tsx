import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

type FieldProps = {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  /** Gets the attributes that tie the control to label, hint and error. */
  readonly children: (attributes: {
    id: string;
    'aria-describedby'?: string;
    'aria-invalid'?: boolean;
  }) => ComponentChildren;
};

/** A control with its label, and what is wrong with it. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const described = error ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described === undefined ? {} : { 'aria-describedby': `${id}-note` }),
        ...(error === undefined ? {} : { 'aria-invalid': true }),
      })}
      {described !== undefined && (
        <p
          id={`${id}-note`}
          class={error === undefined ? 'hint' : 'field-error'}
          role={error === undefined ? undefined : 'alert'}
        >
          {described}
        </p>
      )}
    </div>
  );
}
