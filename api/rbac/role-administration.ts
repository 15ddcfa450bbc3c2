import { ApiError } from '../http/api-error.js';
import type { ErrorCode } from '../http/error-code.js';
import { type ChangedObjects, nothingChanged, sortOut, withLinks, withoutLinks } from './changed-objects.js';
import { refuseMore } from './most-objects.js';
import type { Role } from './rbac-model.js';
import type { RbacStore, RevocationKey } from './rbac-store.js';
import { MAX_BUILT_IN_ID } from './rbac-table.js';

/** What is done to roles (rest-api.md 6.9). Each change ends the tokens that were issued with the role (2.4). */
export class RoleAdministration {
  readonly #store: RbacStore;

  constructor(store: RbacStore) {
    this.#store = store;
  }

  /** @throws ApiError 4005 when the name is taken */
  async create(name: string): Promise<Role> {
    const { roles } = this.#store;
    if (roles.named(name) !== undefined) throw new ApiError(4005);
    refuseMore('roles', roles);
    const role: Role = { id: roles.nextId(), name, policies: [], rules: [] };
    await this.#store.commit([roles.put(role)]);
    return role;
  }

  /** @throws ApiError 4002, 4008 for a built-in one, 4005 when the name is taken */
  async rename(id: number, name: string): Promise<Role> {
    const { roles } = this.#store;
    const role = roles.get(id);
    if (role === undefined) throw new ApiError(4002);
    if (id <= MAX_BUILT_IN_ID) throw new ApiError(4008);
    const other = roles.named(name);
    if (other !== undefined && other.id !== id) throw new ApiError(4005);
    return this.#replace({ ...role, name }, `role:${id}`);
  }

  /** Users lose the role. Failures: 4002, 4008 built-in. */
  async remove(ids: readonly number[]): Promise<ChangedObjects<Role>> {
    const { roles, users } = this.#store;
    const { good, failed } = sortOut(ids, (id) => {
      if (roles.get(id) === undefined) return 4002;
      return id <= MAX_BUILT_IN_ID ? 4008 : undefined;
    });
    const changed = roles.some(good);
    const holders = users.all().filter((user) => user.roles.some((role) => good.includes(role)));
    await this.#store.commit(
      [
        ...holders.map((user) => users.put({ ...user, roles: withoutLinks(user.roles, good) })),
        ...changed.map((role) => roles.remove(role)),
      ],
      [...good.map((id): RevocationKey => `role:${id}`), ...holders.map(({ id }): RevocationKey => `user:${id}`)],
    );
    return { changed, failed };
  }

  /**
   * Gives policies to a role. Failures: 4002 and 4008 with the id of the role, 4007, 4011.
   * @param position place of the first one in the role's list, from 0; its end by default
   */
  async linkPolicies(id: number, policies: readonly number[], position?: number): Promise<ChangedObjects<Role>> {
    const role = this.#store.roles.get(id);
    if (role === undefined) return nothingChanged(id, 4002);
    if (id <= MAX_BUILT_IN_ID) return nothingChanged(id, 4008);
    const { good, failed } = sortOut(
      policies,
      (policy) => this.#policyFault(policy) ?? (role.policies.includes(policy) ? 4011 : undefined),
    );
    if (good.length === 0) return { changed: [], failed };
    const linked = { ...role, policies: withLinks(role.policies, good, position) };
    return { changed: [await this.#replace(linked, `role:${id}`)], failed };
  }

  /** Takes policies from a role. Failures: 4008 with the id of the role, 4007, 4010. @throws ApiError 4002, 404 */
  async unlinkPolicies(id: number, policies: readonly number[]): Promise<ChangedObjects<Role>> {
    const role = this.#required(id);
    if (id <= MAX_BUILT_IN_ID) return nothingChanged(id, 4008);
    const { good, failed } = sortOut(
      policies,
      (policy) => this.#policyFault(policy) ?? (role.policies.includes(policy) ? undefined : 4010),
    );
    if (good.length === 0) return { changed: [], failed };
    const unlinked = { ...role, policies: withoutLinks(role.policies, good) };
    return { changed: [await this.#replace(unlinked, `role:${id}`)], failed };
  }

  /**
   * Has security rules give a role, a built-in one, too: that is how people of a directory become administrators. Built-in
   * rules stay where they are. Every token with a context ends. Failures: 4002 with the id of the role, 4022, 4023, 4008.
   */
  async linkRules(id: number, rules: readonly number[]): Promise<ChangedObjects<Role>> {
    const role = this.#store.roles.get(id);
    if (role === undefined) return nothingChanged(id, 4002);
    const { good, failed } = sortOut(
      rules,
      (rule) => this.#ruleFault(rule) ?? (role.rules.includes(rule) ? 4023 : undefined),
    );
    if (good.length === 0) return { changed: [], failed };
    return { changed: [await this.#replace({ ...role, rules: withLinks(role.rules, good) }, 'run_as')], failed };
  }

  /** The other way round. Failures: 4022, 4024, 4008. @throws ApiError 4002, 404 */
  async unlinkRules(id: number, rules: readonly number[]): Promise<ChangedObjects<Role>> {
    const role = this.#required(id);
    const { good, failed } = sortOut(
      rules,
      (rule) => this.#ruleFault(rule) ?? (role.rules.includes(rule) ? undefined : 4024),
    );
    if (good.length === 0) return { changed: [], failed };
    return { changed: [await this.#replace({ ...role, rules: withoutLinks(role.rules, good) }, 'run_as')], failed };
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

  async #replace(role: Role, revoked: RevocationKey): Promise<Role> {
    await this.#store.commit([this.#store.roles.put(role)], [revoked]);
    return role;
  }
}
