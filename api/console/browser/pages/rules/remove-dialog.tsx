import { useConsole } from '../../client/console-context.js';
import { Confirm } from '../../parts/dialog.js';
import { TEXTS } from '../../texts.js';
import { putInForce } from './put-in-force.js';
import { addressOf, placeOf, type RulesetFile } from './ruleset-file.js';

const T = TEXTS.rules;

type RemoveDialogProps = { readonly file: RulesetFile; readonly onClose: () => void; readonly onRemoved: () => void };

/** Asks before a file is deleted, and has the ruleset go on without it. */
export function RemoveDialog({ file, onClose, onRemoved }: RemoveDialogProps) {
  const parts = useConsole();
  return (
    <Confirm
      title={T.removeTitle(file.path)}
      action={T.remove}
      isDangerous
      onClose={onClose}
      onConfirm={async () => {
        await parts.api.send('DELETE', addressOf(file), { params: placeOf(file) });
        await putInForce(parts, file, T.removed(file.path));
        onRemoved();
      }}
    >
      {file.kind !== 'tests' && <p>{T.removeText}</p>}
    </Confirm>
  );
}
