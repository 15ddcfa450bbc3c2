import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';

export type Suggestion = {
  readonly key: string;
  readonly label: ComponentChildren;
  /** Said beside it, such as how often it occurs. */
  readonly note?: string;
};

type ComboboxProps<Item extends Suggestion> = {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly describedBy?: string;
  readonly suggestions: readonly Item[];
  readonly onInput: (value: string) => void;
  readonly onPick: (item: Item) => void;
  /** Enter, while no suggestion is pointed at. */
  readonly onSubmit: () => void;
};

/** A field for text with suggestions below it (WAI-ARIA combobox): arrow keys point at them, Enter takes one, Escape closes them. */
export function Combobox<Item extends Suggestion>(props: ComboboxProps<Item>) {
  const { label, value, suggestions, onPick } = props;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const isShown = isOpen && suggestions.length > 0;
  const current = isShown ? suggestions[at] : undefined;
  const pick = (item: Item) => {
    setAt(-1);
    onPick(item);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const count = suggestions.length + 1;
      // Behind the last one nothing is pointed at, then the first one again.
      setAt(((at + 1 + step + count) % count) - 1);
    } else if (event.key === 'Escape' && isShown) {
      event.preventDefault();
      setOpen(false);
      setAt(-1);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (current === undefined) {
        setOpen(false);
        props.onSubmit();
      } else {
        pick(current);
      }
    }
  };
  return (
    <div class="combobox">
      <input
        type="text"
        role="combobox"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-activedescendant={current === undefined ? undefined : `${id}-${String(at)}`}
        aria-describedby={props.describedBy}
        placeholder={props.placeholder}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={value}
        onKeyDown={press}
        onFocus={() => setOpen(true)}
        onBlur={() => {
          setOpen(false);
          setAt(-1);
        }}
        onInput={(event) => {
          setOpen(true);
          setAt(-1);
          props.onInput(event.currentTarget.value);
        }}
      />
      <ul role="listbox" id={`${id}-list`} aria-label={label} hidden={!isShown}>
        {isShown && <Options id={id} items={suggestions} at={at} onPick={pick} />}
      </ul>
    </div>
  );
}

type OptionsProps<Item extends Suggestion> = {
  readonly id: string;
  readonly items: readonly Item[];
  /** The one that is pointed at. */
  readonly at: number;
  readonly onPick: (item: Item) => void;
};

function Options<Item extends Suggestion>({ id, items, at, onPick }: OptionsProps<Item>) {
  return (
    <>
      {items.map((item, index) => (
        <li
          key={item.key}
          ref={(option) => {
            if (index === at) option?.scrollIntoView({ block: 'nearest' });
          }}
          role="option"
          id={`${id}-${String(index)}`}
          aria-selected={index === at}
          // The field keeps the focus, or the list would be gone before the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(item)}
        >
          <span>{item.label}</span>
          {item.note !== undefined && <span class="hint">{item.note}</span>}
        </li>
      ))}
    </>
  );
}
