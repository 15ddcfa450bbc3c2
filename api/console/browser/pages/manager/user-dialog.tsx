import { useRef } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { tellFailed } from '../../client/tell-failed.js';
import { useQuery } from '../../client/use-query.js';
import { Confirm, Dialog } from '../../parts/dialog.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { Loaded } from '../../parts/loaded.js';
import { TEXTS } from '../../texts.js';
import { changeLinks, policiesOf, type Policy, type Role, type User } from './access.js';
import { ChooseDialog } from './choose-dialog.js';
import { PolicyTable } from './policy-table.js';

const T = TEXTS.manager;

/** What is done to a user. */
export type UserDeed = 'may' | 'password' | 'roles' | 'remove';

type UserDialogProps = {
  readonly user: User;
  readonly deed: UserDeed;
  readonly roles: readonly Role[];
  readonly onClose: () => void;
  readonly onChanged: () => void;
};

/** Asks for what a deed needs, and does it. */
export function UserDialog({ user, deed, roles, onClose, onChanged }: UserDialogProps) {
  const { api, notices } = useConsole();
  const known = useRef(user.roles);
  const { id, username } = user;
  switch (deed) {
    case 'may':
      return <MayDialog user={user} roles={roles} onClose={onClose} />;
    case 'password':
      return (
        <FormDialog
          title={T.changePasswordTitle(username)}
          action={T.change}
          fields={[{ name: 'password', label: T.password, hint: T.passwordHint, type: 'password' }]}
          onClose={onClose}
          onSubmit={async ({ password = '' }) => {
            await api.send('PUT', `/security/users/${String(id)}`, { json: { password } });
            notices.done(T.passwordChanged(username));
          }}
        />
      );
    case 'roles':
      return (
        <ChooseDialog
          title={T.userRolesTitle(username)}
          items={roles}
          before={user.roles}
          onClose={onClose}
          onConfirm={async (chosen) => {
            try {
              const answers = await changeLinks(
                api,
                [`/security/users/${String(id)}/roles`, 'role_ids'],
                known,
                chosen,
              );
              notices.done(T.rolesChanged(username));
              for (const answer of answers) tellFailed(notices, answer);
            } finally {
              onChanged();
            }
          }}
        />
      );
    case 'remove':
      return (
        <Confirm
          title={T.removeUserTitle(username)}
          action={T.remove}
          isDangerous
          onClose={onClose}
          onConfirm={async () => {
            await api.send('DELETE', '/security/users', { params: { user_ids: String(id) } });
            notices.done(T.userRemoved(username));
            onChanged();
          }}
        >
          <p>{T.removeUserText}</p>
        </Confirm>
      );
  }
}

type MayDialogProps = { readonly user: User; readonly roles: readonly Role[]; readonly onClose: () => void };

function MayDialog({ user, roles, onClose }: MayDialogProps) {
  const policies = useQuery('policies', (api, signal) =>
    api.list<Policy>('/security/policies', { limit: 500 }, signal),
  );
  return (
    <Dialog wide title={T.mayTitle(user.username)} onClose={onClose}>
      <Loaded query={policies}>
        {({ affected_items: all }) => (
          <PolicyTable
            from={T.role}
            rows={policiesOf(user.roles, roles, all).map(({ role, policy }) => ({ from: role.name, policy }))}
          />
        )}
      </Loaded>
    </Dialog>
  );
}
