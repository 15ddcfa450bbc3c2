import { Field } from './field.js';

type SelectFieldProps = {
  readonly label: string;
  readonly value: string;
  /** The value and what it is called; `''` is everything. */
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly onChange: (value: string) => void;
};

/** One of several values; one that the list does not have is shown all the same. */
export function SelectField({ label, value, options, onChange }: SelectFieldProps) {
  const isKnown = options.some(([known]) => known === value);
  return (
    <Field label={label}>
      {(attributes) => (
        <select
          {...attributes}
          value={value}
          onChange={(event) => {
            const to = event.currentTarget.value;
            // It shows another one when the page does: somebody who is asked whether to leave may stay.
            event.currentTarget.value = value;
            onChange(to);
          }}
        >
          {!isKnown && <option value={value}>{value}</option>}
          {options.map(([each, title]) => (
            <option key={each} value={each}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
