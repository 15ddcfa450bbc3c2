import { useRef } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { tellFailed } from '../../client/tell-failed.js';
import { Confirm, Dialog } from '../../parts/dialog.js';
import { TEXTS } from '../../texts.js';
import { changeLinks, policiesOf, type Policy, type Role } from './access.js';
import { ChooseDialog } from './choose-dialog.js';
import { PolicyTable } from './policy-table.js';

const T = TEXTS.manager;

/** What is done to a role. */
export type RoleDeed = 'may' | 'policies' | 'remove';

type RoleDialogProps = {
  readonly role: Role;
  readonly deed: RoleDeed;
  readonly policies: readonly Policy[];
  readonly onClose: () => void;
  readonly onChanged: () => void;
};

/** Asks for what a deed needs, and does it. */
export function RoleDialog({ role, deed, policies, onClose, onChanged }: RoleDialogProps) {
  const { api, notices } = useConsole();
  const known = useRef(role.policies);
  const { id, name } = role;
  switch (deed) {
    case 'may':
      return (
        <Dialog wide title={T.mayTitle(name)} onClose={onClose}>
          <PolicyTable
            from={T.policy}
            rows={policiesOf([id], [role], policies).map(({ policy }) => ({ from: policy.name, policy }))}
          />
        </Dialog>
      );
    case 'policies':
      return (
        <ChooseDialog
          title={T.rolePoliciesTitle(name)}
          items={policies.map((each) => ({ id: each.id, name: each.name, note: each.policy.actions.join(', ') }))}
          before={role.policies}
          onClose={onClose}
          onConfirm={async (chosen) => {
            try {
              const answers = await changeLinks(
                api,
                [`/security/roles/${String(id)}/policies`, 'policy_ids'],
                known,
                chosen,
              );
              notices.done(T.policiesChanged(name));
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
          title={T.removeRoleTitle(name)}
          action={T.remove}
          isDangerous
          onClose={onClose}
          onConfirm={async () => {
            await api.send('DELETE', '/security/roles', { params: { role_ids: String(id) } });
            notices.done(T.roleRemoved(name));
            onChanged();
          }}
        >
          <p>{T.removeRoleText}</p>
        </Confirm>
      );
  }
}
