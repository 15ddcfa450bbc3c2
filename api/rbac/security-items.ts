import type { Policy, Role, SecurityRule, User } from './rbac-model.js';
import type { RbacStore } from './rbac-store.js';

/** A user as lists show it: without its password, roles in their order (rest-api.md 6.9). */
export function userItem({ id, name, allowRunAs, roles }: User) {
  return { id, username: name, allow_run_as: allowRunAs, roles };
}

/** Objects as lists show them, with those that use them. Looked up once for a whole list. */
export class SecurityItems {
  readonly #usersOfRole = new Map<number, number[]>();
  readonly #rolesOfPolicy = new Map<number, number[]>();
  readonly #rolesOfRule = new Map<number, number[]>();

  constructor(store: RbacStore) {
    for (const { id, roles } of store.users.all()) for (const role of roles) add(this.#usersOfRole, role, id);
    for (const { id, policies, rules } of store.roles.all()) {
      for (const policy of policies) add(this.#rolesOfPolicy, policy, id);
      for (const rule of rules) add(this.#rolesOfRule, rule, id);
    }
  }

  role({ id, name, policies, rules }: Role) {
    return { id, name, policies, users: this.#usersOfRole.get(id) ?? [], rules };
  }

  policy({ id, name, policy }: Policy) {
    return { id, name, policy, roles: this.#rolesOfPolicy.get(id) ?? [] };
  }

  rule({ id, name, rule }: SecurityRule) {
    return { id, name, rule, roles: this.#rolesOfRule.get(id) ?? [] };
  }
}

function add(map: Map<number, number[]>, key: number, value: number): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
