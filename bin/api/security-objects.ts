import * as z from 'zod';
import type { ApiCaller } from './api-caller.js';
import { didYouMean } from './closest-name.js';
import { ApiRefusalError } from './refusal.js';

/** As many as a store can hold (rest-api.md 7). */
const ALL = 100_000;
const ID = /^\d+$/;

const object = z.object({
  id: z.number(),
  name: z.string().optional(),
  username: z.string().optional(),
  policy: z.object({ actions: z.array(z.string()), resources: z.array(z.string()), effect: z.string() }).optional(),
  policies: z.array(z.number()).optional(),
  users: z.array(z.number()).optional(),
});

/** A user, role or policy. */
export type SecurityObject = Omit<z.infer<typeof object>, 'name'> & { readonly name: string };

/** All users, roles or policies that the caller may see. */
export async function readObjects(
  caller: ApiCaller,
  kind: 'users' | 'roles' | 'policies',
): Promise<readonly SecurityObject[]> {
  const { data } = await caller.list('GET', `/security/${kind}`, { limit: ALL });
  return z
    .array(object)
    .parse(data.affected_items)
    .map((one) => ({ ...one, name: one.name ?? one.username ?? '' }));
}

/** Id of a user that is given by name, or by id. @throws ApiRefusalError when there is none */
export async function userId(caller: ApiCaller, name: string): Promise<number> {
  return idOf(await readObjects(caller, 'users'), 'user', name);
}

/** Ids of roles that are given by name or id. @throws ApiRefusalError for one that there is not */
export async function roleIds(caller: ApiCaller, names: readonly string[]): Promise<number[]> {
  if (names.length === 0) return [];
  const roles = await readObjects(caller, 'roles');
  return names.map((name) => idOf(roles, 'role', name));
}

/**
 * Id of a role that sees a group, its agents and their alerts, and nothing else; made when there is none. One of an earlier version, which
 * lacks some of it, gets the rest; what has its name and allows something else, or nothing any more, is left alone.
 * @param say told, in a sentence, when all who have the role see more than before
 * @throws ApiRefusalError
 */
export async function ensureReadingRole(
  caller: ApiCaller,
  group: string,
  say: (text: string) => void,
): Promise<number> {
  const name = `read-group-${group}`;
  const agents = await ensurePolicy(caller, `${name}-agents`, 'agent:read', `agent:group:${group}`);
  const itself = await ensurePolicy(caller, `${name}-group`, 'group:read', `group:id:${group}`);
  const alerts = await ensurePolicy(caller, `${name}-alerts`, 'alerts:read', `agent:group:${group}`);
  const policies = [agents, itself, alerts];
  const there = (await readObjects(caller, 'roles')).find((role) => role.name === name);
  if (there !== undefined) {
    const { policies: linked = [], users = [] } = there;
    if (linked.length === 0) {
      throw new ApiRefusalError(`role '${name}' is there and has no policies: give it by --role if it is meant`);
    }
    if (!linked.every((id) => policies.includes(id))) {
      throw new ApiRefusalError(`role '${name}' is there and has other policies: give it by --role if it is meant`);
    }
    if (!linked.includes(alerts)) {
      const have = users.length === 1 ? '1 user has it' : `${users.length} users have it`;
      say(`role '${name}' of an earlier version gets alerts:read, too: ${have}`);
    }
    await link(
      caller,
      there.id,
      policies.filter((id) => !linked.includes(id)),
    );
    return there.id;
  }
  const id = firstId(await caller.list('POST', '/security/roles', {}, { name }), name);
  await link(caller, id, policies);
  return id;
}

async function link(caller: ApiCaller, role: number, policies: readonly number[]): Promise<void> {
  if (policies.length === 0) return;
  await caller.list('POST', `/security/roles/${role}/policies`, { policy_ids: policies.join(',') });
}

/** Policies are told apart by what they say, too: one that says the same is taken, whatever its name. */
async function ensurePolicy(caller: ApiCaller, name: string, action: string, resource: string): Promise<number> {
  const there = (await readObjects(caller, 'policies')).find(
    ({ policy }) =>
      policy?.effect === 'allow' && policy.actions.join() === action && policy.resources.join() === resource,
  );
  if (there !== undefined) return there.id;
  const policy = { actions: [action], resources: [resource], effect: 'allow' };
  return firstId(await caller.list('POST', '/security/policies', {}, { name, policy }), name);
}

function firstId({ data }: Awaited<ReturnType<ApiCaller['list']>>, name: string): number {
  const [made] = z.array(object).parse(data.affected_items);
  if (made !== undefined) return made.id;
  throw new ApiRefusalError(`'${name}' was not made: ${data.failed_items[0]?.error.message ?? 'no reason was given'}`);
}

function idOf(objects: readonly SecurityObject[], kind: string, name: string): number {
  const found =
    objects.find((one) => one.name === name) ?? objects.find((one) => ID.test(name) && one.id === Number(name));
  if (found !== undefined) return found.id;
  const names = objects.map((one) => one.name);
  throw new ApiRefusalError(`there is no ${kind} '${name}'${didYouMean(name, names)} that this user may see`);
}
