import { useEffect, useRef, useState } from 'preact/hooks';
import { useSettled } from '../client/use-settled.js';
import { Field } from './field.js';

type SearchFieldProps = {
  readonly label: string;
  readonly value: string;
  /** Told when somebody has stopped typing. */
  readonly onSearch: (value: string) => void;
  readonly hint?: string;
  /** What one may write, as an example. */
  readonly example?: string;
};

/** Milliseconds without a key after which somebody waits for an answer. */
const PAUSE_MS = 350;

/** Words to look for; they count a moment after they are typed. */
export function SearchField({ label, value, onSearch, hint, example }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const settled = useSettled(typed, PAUSE_MS);
  const told = useRef(value);
  useEffect(() => {
    if (settled === told.current) return;
    told.current = settled;
    onSearch(settled);
  }, [settled]);
  // What comes back is older than what is typed; only what somebody else changed counts.
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setTyped(value);
  }, [value]);
  return (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <input
          {...attributes}
          type="search"
          placeholder={example}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
