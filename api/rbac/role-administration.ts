import { MAX_BUILT_IN_ID } from '../../lib/cluster/access-records.js';
import { ApiError } from '../http/api-error.js';
import type { ErrorCode } from '../http/error-code.js';
import { type AccessDecision, type AccessDecisions, putObject, removeObject } from './access-decisions.js';
import { type ChangedObjects, nothingChanged, Removal, sortOut, withLinks, withoutLinks } from './changed-objects.js';
import { refuseMore } from './most-objects.js';
import type { RevocationKey, Role } from './rbac-model.js';
import type { RbacStore } from './rbac-store.js';

/** What is done to roles (rest-api.md 6.9). Each change ends the tokens that were issued with the role (2.4). */
export class RoleAdministration {
  readonly #store: RbacStore;
  readonly #decisions: AccessDecisions;

  constructor(store: RbacStore, decisions: AccessDecisions) {
    this.#store = store;
    this.#decisions = decisions;
  }

  /** @throws ApiError 4005 when the name is taken */
  async create(name: string): Promise<Role> {
    const { roles } = this.#store;
    return this.#decisions.change(() => {
      if (roles.named(name) !== undefined) throw new ApiError(4005);
      refuseMore('roles', roles);
      const role: Role = { id: roles.nextId(), name, policies: [], rules: [] };
      return { changes: [putObject('roles', role)], result: role };
    });
  }

  /** @throws ApiError 4002, 4008 for a built-in one, 4005 when the name is taken */
  async rename(id: number, name: string): Promise<Role> {
    const { roles } = this.#store;
    return this.#decisions.change(() => {
      const role = roles.get(id);
      if (role === undefined) throw new ApiError(4002);
      if (id <= MAX_BUILT_IN_ID) throw new ApiError(4008);
      const other = roles.named(name);
      if (other !== undefined && other.id !== id) throw new ApiError(4005);
      const renamed: Role = { ...role, name };
      return { changes: [putObject('roles', renamed)], revoked: [`role:${id}`], result: renamed };
    });
  }

  /** Users lose the role. Failures: 4002, 4008 built-in. */
  async remove(ids: readonly number[]): Promise<ChangedObjects<Role>> {
    const { roles, users } = this.#store;
    const removal = new Removal(roles);
    return this.#decisions.change(() => {
      const { good, failed } = sortOut(ids, (id) => {
        if (!removal.has(id)) return 4002;
        return id <= MAX_BUILT_IN_ID ? 4008 : undefined;
      });
      const holders = users.all().filter((user) => user.roles.some((role) => good.includes(role)));
      return {
        changes: [
          ...holders.map((user) => putObject('users', { ...user, roles: withoutLinks(user.roles, good) })),
          ...good.map((id) => removeObject('roles', id)),
        ],
        revoked: [
          ...good.map((id): RevocationKey => `role:${id}`),
          ...holders.map(({ id }): RevocationKey => `user:${id}`),
        ],
        result: { changed: removal.of(good), failed },
      };
    });
  }

  /**
   * Gives policies to a role. Failures: 4002 and 4008 with the id of the role, 4007, 4011.
   * @param position place of the first one in the role's list, from 0; its end by default
   */
  async linkPolicies(id: number, policies: readonly number[], position?: number): Promise<ChangedObjects<Role>> {
    return this.#decisions.change(() => {
      const role = this.#store.roles.get(id);
      if (role === undefined) return { result: nothingChanged(id, 4002) };
      if (id <= MAX_BUILT_IN_ID) return { result: nothingChanged(id, 4008) };
      const sorted = sortOut(
        policies,
        (policy) => this.#policyFault(policy) ?? (role.policies.includes(policy) ? 4011 : undefined),
      );
      return linked(sorted, { ...role, policies: withLinks(role.policies, sorted.good, position) }, `role:${id}`);
    });
  }

  /** Takes policies from a role. Failures: 4008 with the id of the role, 4007, 4010. @throws ApiError 4002, 404 */
  async unlinkPolicies(id: number, policies: readonly number[]): Promise<ChangedObjects<Role>> {
    return this.#decisions.change(() => {
      const role = this.#required(id);
      if (id <= MAX_BUILT_IN_ID) return { result: nothingChanged(id, 4008) };
      const sorted = sortOut(
        policies,
        (policy) => this.#policyFault(policy) ?? (role.policies.includes(policy) ? undefined : 4010),
      );
      return linked(sorted, { ...role, policies: withoutLinks(role.policies, sorted.good) }, `role:${id}`);
    });
  }

  /**
   * Has security rules give a role, a built-in one, too: that is how people of a directory become administrators. Built-in
   * rules stay where they are. Every token with a context ends. Failures: 4002 with the id of the role, 4022, 4023, 4008.
   */
  async linkRules(id: number, rules: readonly number[]): Promise<ChangedObjects<Role>> {
    return this.#decisions.change(() => {
      const role = this.#store.roles.get(id);
      if (role === undefined) return { result: nothingChanged(id, 4002) };
      const sorted = sortOut(rules, (rule) => this.#ruleFault(rule) ?? (role.rules.includes(rule) ? 4023 : undefined));
      return linked(sorted, { ...role, rules: withLinks(role.rules, sorted.good) }, 'run_as');
    });
  }

  /** The other way round. Failures: 4022, 4024, 4008. @throws ApiError 4002, 404 */
  async unlinkRules(id: number, rules: readonly number[]): Promise<ChangedObjects<Role>> {
    return this.#decisions.change(() => {
      const role = this.#required(id);
      const sorted = sortOut(rules, (rule) => this.#ruleFault(rule) ?? (role.rules.includes(rule) ? undefined : 4024));
      return linked(sorted, { ...role, rules: withoutLinks(role.rules, sorted.good) }, 'run_as');
    });
  }

  #policyFault(policy: number): ErrorCode | undefined {
    return this.#store.policies.get(policy) === undefined ? 4007 : undefined;
  }

  #ruleFault(rule: number): ErrorCode | undefined {
    if (this.#store.rules.get(rule) === undefined) return 4022;
    return rule <= MAX_BUILT_IN_ID ? 4008 : undefined;
  }

  #required(id: number): Role {
    const role = this.#store.roles.get(id);
    if (role === undefined) throw new ApiError(4002, { status: 404 });
    return role;
  }
}

/** A role with other links, where there is one that can be made or taken away. */
function linked(
  { good, failed }: ReturnType<typeof sortOut>,
  role: Role,
  revoked: RevocationKey,
): AccessDecision<ChangedObjects<Role>> {
  if (good.length === 0) return { result: { changed: [], failed } };
  return { changes: [putObject('roles', role)], revoked: [revoked], result: { changed: [role], failed } };
}
