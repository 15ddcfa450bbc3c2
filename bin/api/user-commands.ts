import type { Command } from 'commander';
import type { ApiCaller } from './api-caller.js';
import { addCall, addGroup, type CommandKit, confirmed, EXIT, withYes } from './command-kit.js';
import { readPassword } from './password.js';
import { ensureReadingRole, readObjects, roleIds, userId } from './security-objects.js';
import { showList } from './show-answer.js';
import { ApiUsageError } from './usage-error.js';

const USERS = '/security/users';

type CreateOptions = {
  readonly role: readonly string[];
  readonly readGroup: readonly string[];
  readonly passwordFile?: string;
};
type PasswordOptions = { readonly passwordFile?: string };

const several = (value: string, before: readonly string[]): readonly string[] => [...before, value];
const withPasswordFile = (command: Command): Command =>
  command.option(
    '--password-file <file>',
    'file with the password, - for the standard input; without, it is asked for',
  );

/** Adds `svc-api users ...`: who may call the API. Every change ends the tokens of that user. */
export function addUserCommands(program: Command, kit: CommandKit): void {
  const users = addGroup(program, 'users', 'show and change users of the API');
  addCall<object, []>(
    users,
    { usage: 'list', description: 'list users with the names of their roles' },
    kit,
    async ({ caller, streams, output }) => {
      const list = await caller.list('GET', USERS);
      if (output !== 'table') return showList(list, { output }, streams);
      const names = new Map((await readObjects(caller, 'roles')).map(({ id, name }) => [id, name]));
      const items = (list.data.affected_items as { roles: readonly number[] }[]).map((user) => ({
        ...user,
        roles: user.roles.map((id) => names.get(id) ?? String(id)),
      }));
      const shown = { ...list, data: { ...list.data, affected_items: items } };
      return showList(shown, { output, fields: ['id', 'username', 'roles', 'allow_run_as'] }, streams);
    },
  );
  addCreate(users, kit);
  addCall<PasswordOptions, [string]>(
    users,
    { usage: 'passwd <user>', description: 'give a user another password', setUp: withPasswordFile },
    kit,
    async ({ caller, streams, options, output }, name) => {
      const id = await userId(caller, name);
      const password = await newPassword(options, name, kit);
      return showList(await caller.list('PUT', `${USERS}/${id}`, {}, { password }), { output }, streams);
    },
  );
  addRoleLinks(users, kit);
  addCall<object, [readonly string[]]>(
    users,
    { usage: 'delete <users...>', description: 'remove users; their tokens end at once', setUp: withYes },
    kit,
    async ({ caller, streams, options, output }, names) => {
      const ids = await inOrder(names, (name) => userId(caller, name));
      if (!(await confirmed(`Delete ${names.join(', ')}?`, options.yes, streams))) return EXIT.failed;
      return showList(await caller.list('DELETE', USERS, { user_ids: ids.join(',') }), { output }, streams);
    },
  );
}

function addCreate(users: Command, kit: CommandKit): void {
  const options = (command: Command): Command =>
    withPasswordFile(command)
      .option('--role <role>', 'role of the user, by name or id; may be given several times', several, [])
      .option(
        '--read-group <group>',
        'let the user see a group, its agents and their alerts, and nothing else; may be given several times',
        several,
        [],
      );
  addCall<CreateOptions, [string]>(
    users,
    { usage: 'create <user>', description: 'make a user, who may do nothing without a role', setUp: options },
    kit,
    async ({ caller, streams, options: { role, readGroup, passwordFile }, output }, username) => {
      const roles = await roleIds(caller, role);
      await refuseUnknownGroups(caller, readGroup);
      const password = await newPassword(passwordFile === undefined ? {} : { passwordFile }, username, kit);
      const say = (text: string): void => streams.writeError(`svc-api: ${text}\n`);
      // A role that nobody has yet does no harm where the user is refused; a user without the role that was asked for would.
      for (const group of readGroup) roles.push(await ensureReadingRole(caller, group, say));
      const made = await caller.list('POST', USERS, {}, { username, password });
      if (made.data.total_failed_items > 0) return showList(made, { output }, streams);
      if (roles.length === 0) return showList(made, { output }, streams);
      const id = await userId(caller, username);
      const linked = await caller.list('POST', `${USERS}/${id}/roles`, { role_ids: roles.join(',') });
      return showList(linked, { output }, streams);
    },
  );
}

function addRoleLinks(users: Command, kit: CommandKit): void {
  addCall<object, [string, readonly string[]]>(
    users,
    { usage: 'grant <user> <roles...>', description: 'give a user roles' },
    kit,
    async ({ caller, streams, output }, name, roles) => {
      const path = `${USERS}/${await userId(caller, name)}/roles`;
      const parameters = { role_ids: (await roleIds(caller, roles)).join(',') };
      return showList(await caller.list('POST', path, parameters), { output }, streams);
    },
  );
  addCall<object, [string, readonly string[]]>(
    users,
    { usage: 'revoke <user> [roles...]', description: 'take roles from a user, all without names; tokens end at once' },
    kit,
    async ({ caller, streams, output }, name, roles) => {
      const path = `${USERS}/${await userId(caller, name)}/roles`;
      const ids = roles.length === 0 ? 'all' : (await roleIds(caller, roles)).join(',');
      return showList(await caller.list('DELETE', path, { role_ids: ids }), { output }, streams);
    },
  );
}

async function newPassword({ passwordFile }: PasswordOptions, user: string, { streams }: CommandKit): Promise<string> {
  const password = await readPassword(streams, passwordFile, `New password of ${user}: `);
  if (passwordFile === undefined && (await readPassword(streams, undefined, 'Again: ')) !== password) {
    throw new ApiUsageError('the passwords differ: nothing was changed');
  }
  return password;
}

async function refuseUnknownGroups(caller: ApiCaller, groups: readonly string[]): Promise<void> {
  if (groups.length === 0) return;
  const list = await caller.list('GET', '/groups', { groups_list: groups.join(',') });
  const known = new Set((list.data.affected_items as { name: string }[]).map(({ name }) => name));
  const missing = groups.find((group) => !known.has(group));
  if (missing !== undefined) throw new ApiUsageError(`there is no group '${missing}': svc-api groups list`);
}

async function inOrder<T>(names: readonly string[], find: (name: string) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (const name of names) found.push(await find(name));
  return found;
}
