import { useConsole } from '../../client/console-context.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { hrefOf } from '../../router/location.js';
import { go } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';

const T = TEXTS.groups;

/** Makes a group, and goes to it. */
export function CreateGroup({ onClose }: { readonly onClose: () => void }) {
  const { api, notices } = useConsole();
  return (
    <FormDialog
      title={T.create}
      action={T.create}
      fields={[{ name: 'name', label: T.name, hint: T.nameHint, maxLength: 128 }]}
      onClose={onClose}
      onSubmit={async ({ name = '' }) => {
        await api.send('POST', '/groups', { json: { group_id: name } });
        notices.done(T.created(name));
        go(hrefOf(['groups', name], { tab: 'configuration' }));
      }}
    />
  );
}
