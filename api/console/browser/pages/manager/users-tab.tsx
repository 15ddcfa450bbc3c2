import { useState } from 'preact/hooks';
import { useConsole } from '../../client/console-context.js';
import { useQuery } from '../../client/use-query.js';
import type { Column } from '../../parts/data-table.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { StateBadge } from '../../parts/small.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { isBuiltIn, type Role, type User } from './access.js';
import { MayButton } from './may-button.js';
import { type UserDeed, UserDialog } from './user-dialog.js';

const T = TEXTS.manager;

/** Who may log in at the API, and with which roles. */
export function UsersTab() {
  const { api, notices } = useConsole();
  const [place, change] = useParams();
  const [version, setVersion] = useState(0);
  const [isCreating, setCreating] = useState(false);
  const [asked, setAsked] = useState<{ user: User; deed: UserDeed }>();
  const roles = useQuery(`roles ${String(version)}`, (client, signal) =>
    client.list<Role>('/security/roles', { limit: 500 }, signal),
  );
  const nameOf = (id: number) => roles.data?.affected_items.find((role) => role.id === id)?.name ?? String(id);
  const search = place.get('search') ?? '';
  const changed = () => setVersion((before) => before + 1);
  return (
    <>
      <div class="row filters">
        <div class="grow">
          <SearchField
            label={T.search}
            value={search}
            onSearch={(words) => change({ search: words, offset: undefined }, true)}
          />
        </div>
        <MayButton label={T.newUser} action="security:create_user" onClick={() => setCreating(true)} />
      </div>
      <PagedList<User>
        label={T.users}
        path="/security/users"
        needs="security:read"
        params={{ search }}
        version={version}
        columns={columnsOf(nameOf, (user, deed) => setAsked({ user, deed }))}
        rowKey={({ id }) => String(id)}
        sort="+id"
      />
      {isCreating && (
        <FormDialog
          title={T.newUserTitle}
          action={T.create}
          fields={[
            { name: 'username', label: T.name },
            { name: 'password', label: T.password, hint: T.passwordHint, type: 'password' },
          ]}
          onClose={() => setCreating(false)}
          onSubmit={async ({ username = '', password = '' }) => {
            await api.send('POST', '/security/users', { json: { username, password } });
            notices.done(T.userCreated(username));
            changed();
          }}
        />
      )}
      {asked !== undefined && (
        <UserDialog
          {...asked}
          roles={roles.data?.affected_items ?? []}
          onClose={() => setAsked(undefined)}
          onChanged={changed}
        />
      )}
    </>
  );
}

type Ask = (user: User, deed: UserDeed) => void;

function columnsOf(nameOf: (id: number) => string, ask: Ask): readonly Column<User>[] {
  return [
    {
      key: 'name',
      title: T.user,
      sort: 'username',
      show: (user) => (
        <>
          <strong>{user.username}</strong> {isBuiltIn(user) && <StateBadge state={T.builtIn} tone="plain" />}
        </>
      ),
    },
    { key: 'roles', title: T.roles, show: ({ roles: ids }) => ids.map(nameOf).join(', ') },
    {
      key: 'run-as',
      title: T.runAs,
      isExtra: true,
      show: ({ allow_run_as: runAs }) => (runAs ? T.yes : T.no),
    },
    {
      key: 'actions',
      title: T.actions,
      show: (user) => <UserActions user={user} ask={ask} />,
    },
  ];
}

function UserActions({ user, ask }: { readonly user: User; readonly ask: Ask }) {
  const reason = isBuiltIn(user) ? T.reservedUser : undefined;
  const name = user.username;
  return (
    <div class="actions start">
      <MayButton label={T.may} name={name} action="security:read" onClick={() => ask(user, 'may')} />
      <MayButton label={T.changePassword} name={name} action="security:update" onClick={() => ask(user, 'password')} />
      <MayButton
        label={T.userRoles}
        name={name}
        action="security:update"
        reason={reason}
        onClick={() => ask(user, 'roles')}
      />
      <MayButton
        label={T.remove}
        name={name}
        action="security:delete"
        kind="danger"
        reason={reason}
        onClick={() => ask(user, 'remove')}
      />
    </div>
  );
}
