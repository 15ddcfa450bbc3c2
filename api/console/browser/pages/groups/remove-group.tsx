import { useConsole } from '../../client/console-context.js';
import { Confirm } from '../../parts/dialog.js';
import { TEXTS } from '../../texts.js';

const T = TEXTS.groups;

type RemoveGroupProps = {
  readonly name: string;
  readonly members: number;
  readonly onClose: () => void;
  readonly onDone: () => void;
};

/** Asks before a group is removed, and says what is lost. */
export function RemoveGroup({ name, members, onClose, onDone }: RemoveGroupProps) {
  const { api, notices } = useConsole();
  return (
    <Confirm
      title={T.removeTitle(name)}
      action={T.remove}
      isDangerous
      onClose={onClose}
      onConfirm={async () => {
        await api.send('DELETE', '/groups', { params: { groups_list: name } });
        notices.done(T.removed(name));
        onDone();
      }}
    >
      <p>{T.removeText(members)}</p>
    </Confirm>
  );
}
