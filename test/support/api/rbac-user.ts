import { PasswordHasher } from '../../../api/auth/password-hasher.js';
import type { Policy, PolicyBody } from '../../../api/rbac/rbac-model.js';
import { RbacStore } from '../../../api/rbac/rbac-store.js';
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
  const store = await RbacStore.open(api.home.path('api', 'configuration', 'security', 'rbac'), () => {
    throw new Error('the API has made no users');
  });
  const ids = policies.map((_policy, index) => 100 + index);
  const passwordHash = await new PasswordHasher(1, { N: 16, r: 1, p: 1 }).hash(user.password, { address: 'test' });
  const stored = { id: 100, name: user.name, allowRunAs: false, passwordHash, roles: user.roles ?? [100] };
  await store.commit([
    ...policies.map((one, index) => store.policies.put({ id: 100 + index, name: `policy${index}`, policy: one })),
    store.roles.put({ id: 100, name: 'own', policies: ids, rules: [] }),
    store.users.put(stored),
  ]);
  await store.close();
  await api.open();
}
