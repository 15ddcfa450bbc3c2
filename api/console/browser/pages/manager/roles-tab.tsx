import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { useQuery } from '../../client/use-query.js';
import type { Column } from '../../parts/data-table.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { PagedList } from '../../parts/paged-list.js';
import { StateBadge } from '../../parts/small.js';
import { TEXTS } from '../../texts.js';
import { isBuiltIn, type Policy, type Role } from './access.js';
import { MayButton } from './may-button.js';
import { type RoleDeed, RoleDialog } from './role-dialog.js';

const T = TEXTS.manager;

/** Roles: what they allow, and how many have them. */
export function RolesTab() {
  const { api, notices } = useConsole();
  const [version, setVersion] = useState(0);
  const [isCreating, setCreating] = useState(false);
  const [asked, setAsked] = useState<{ role: Role; deed: RoleDeed }>();
  const policies = useQuery('policies', (client, signal) =>
    client.list<Policy>('/security/policies', { limit: 500 }, signal),
  );
  const all = policies.data?.affected_items ?? [];
  const changed = () => setVersion((before) => before + 1);
  return (
    <>
      <div class="row filters">
        <MayButton label={T.newRole} action="security:create" onClick={() => setCreating(true)} />
      </div>
      <PagedList<Role>
        label={T.roles}
        path="/security/roles"
        needs="security:read"
        version={version}
        columns={columnsOf(all, (role, deed) => setAsked({ role, deed }))}
        rowKey={({ id }) => String(id)}
        sort="+id"
      />
      {isCreating && (
        <FormDialog
          title={T.newRoleTitle}
          action={T.create}
          fields={[{ name: 'name', label: T.name }]}
          onClose={() => setCreating(false)}
          onSubmit={async ({ name = '' }) => {
            await api.send('POST', '/security/roles', { json: { name } });
            notices.done(T.roleCreated(name));
            changed();
          }}
        />
      )}
      {asked !== undefined && (
        <RoleDialog {...asked} policies={all} onClose={() => setAsked(undefined)} onChanged={changed} />
      )}
    </>
  );
}

type Ask = (role: Role, deed: RoleDeed) => void;

function columnsOf(all: readonly Policy[], ask: Ask): readonly Column<Role>[] {
  return [
    {
      key: 'name',
      title: T.role,
      sort: 'name',
      show: (role) => (
        <>
          <strong>{role.name}</strong> {isBuiltIn(role) && <StateBadge state={T.builtIn} tone="plain" />}
        </>
      ),
    },
    {
      key: 'policies',
      title: T.policies,
      isExtra: true,
      show: ({ policies: ids }) => ids.map((id) => all.find((each) => each.id === id)?.name ?? id).join(', '),
    },
    { key: 'users', title: T.usersCount, isNumber: true, show: ({ users }) => users.length },
    {
      key: 'actions',
      title: T.actions,
      show: (role) => <RoleActions role={role} ask={ask} />,
    },
  ];
}

function RoleActions({ role, ask }: { readonly role: Role; readonly ask: Ask }) {
  const reason = isBuiltIn(role) ? T.reservedRole : undefined;
  const { name } = role;
  return (
    <div class="actions start">
      <MayButton label={T.may} name={name} action="security:read" onClick={() => ask(role, 'may')} />
      <MayButton
        label={T.rolePolicies}
        name={name}
        action="security:update"
        reason={reason}
        onClick={() => ask(role, 'policies')}
      />
      <MayButton
        label={T.remove}
        name={name}
        action="security:delete"
        kind="danger"
        reason={reason}
        onClick={() => ask(role, 'remove')}
      />
    </div>
  );
}
