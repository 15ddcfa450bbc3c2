import { useState } from 'preact/hooks';
import { Confirm } from '../../parts/dialog.js';
import { TEXTS } from '../../texts.js';

type ChooseDialogProps = {
  readonly title: string;
  readonly items: readonly { readonly id: number; readonly name: string; readonly note?: string }[];
  readonly before: readonly number[];
  readonly onConfirm: (chosen: ReadonlySet<number>) => Promise<void>;
  readonly onClose: () => void;
};

/** Which of several things somebody or something has. */
export function ChooseDialog({ title, items, before, onConfirm, onClose }: ChooseDialogProps) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set(before));
  const set = (id: number, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <Confirm title={title} action={TEXTS.manager.change} onClose={onClose} onConfirm={() => onConfirm(chosen)}>
      <ul class="choices">
        {items.map(({ id, name, note }) => (
          <li key={id}>
            <label>
              <input
                type="checkbox"
                checked={chosen.has(id)}
                onChange={(event) => set(id, event.currentTarget.checked)}
              />{' '}
              {name} {note !== undefined && <span class="hint">{note}</span>}
            </label>
          </li>
        ))}
      </ul>
    </Confirm>
  );
}
