import { open } from 'lmdb';
import { PasswordHasher } from '../../../api/auth/password-hasher.js';
import type { Policy, PolicyBody, Role, User } from '../../../api/rbac/rbac-model.js';
import type { TestApi } from './test-api.js';

/** A policy in a line. @param action one or more, with commas */
export const policy = (effect: 'allow' | 'deny', action: string, ...resources: string[]): PolicyBody => ({
  actions: action.split(','),
  resources,
  effect,
});

/** Puts a user, and policies of its own role, into the store of an API; the API is restarted for it. */
export async function addUser(
  api: TestApi,
  user: { name: string; password: string; roles?: number[] },
  policies: Policy['policy'][] = [],
): Promise<void> {
  await api.stop();
  const root = open({ path: api.home.path('api', 'configuration', 'security', 'rbac'), maxDbs: 12 });
  const users = root.openDB<User, number>({ name: 'users' });
  const roles = root.openDB<Role, number>({ name: 'roles' });
  const table = root.openDB<Policy, number>({ name: 'policies' });
  const ids = policies.map((_policy, index) => 100 + index);
  for (const [index, policy] of policies.entries()) {
    await table.put(100 + index, { id: 100 + index, name: `policy${index}`, policy });
  }
  await roles.put(100, { id: 100, name: 'own', policies: ids, rules: [] });
  const passwordHash = await new PasswordHasher(1, { N: 16, r: 1, p: 1 }).hash(user.password, { address: 'test' });
  const stored = { id: 100, name: user.name, allowRunAs: false, passwordHash, roles: user.roles ?? [100] };
  await users.put(100, stored);
  await root.close();
  await api.open();
}
