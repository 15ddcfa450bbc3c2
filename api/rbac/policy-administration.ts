import { MAX_BUILT_IN_ID } from '../../lib/cluster/access-records.js';
import { ApiError } from '../http/api-error.js';
import { type AccessDecisions, putObject, removeObject } from './access-decisions.js';
import { type ChangedObjects, Removal, sortOut, withoutLinks } from './changed-objects.js';
import { refuseMore } from './most-objects.js';
import type { Policy, PolicyBody, RevocationKey, Role } from './rbac-model.js';
import type { RbacStore } from './rbac-store.js';
import { type PolicyDraft, readPolicy, samePolicy } from './read-policy.js';

/** What is done to policies (rest-api.md 6.9). Each change ends the tokens issued with a role that has the policy (2.4). */
export class PolicyAdministration {
  readonly #store: RbacStore;
  readonly #decisions: AccessDecisions;

  constructor(store: RbacStore, decisions: AccessDecisions) {
    this.#store = store;
    this.#decisions = decisions;
  }

  /** @throws ApiError 4006 for a policy that is none, 4009 when there is one of the name, or one that says the same */
  async create(name: string, draft: PolicyDraft): Promise<Policy> {
    const { policies } = this.#store;
    const body = readPolicy(draft);
    return this.#decisions.change(() => {
      if (policies.named(name) !== undefined || this.#same(body) !== undefined) throw new ApiError(4009);
      refuseMore('policies', policies);
      const policy: Policy = { id: policies.nextId(), name, policy: body };
      return { changes: [putObject('policies', policy)], result: policy };
    });
  }

  /** @throws ApiError 4007, 4008 for a built-in one, 4006, 4013 when there is another of the name or that says the same */
  async update(id: number, change: { readonly name?: string; readonly policy?: PolicyDraft }): Promise<Policy> {
    const { policies } = this.#store;
    return this.#decisions.change(() => {
      const policy = policies.get(id);
      if (policy === undefined) throw new ApiError(4007);
      if (id <= MAX_BUILT_IN_ID) throw new ApiError(4008);
      const name = change.name ?? policy.name;
      const body = change.policy === undefined ? policy.policy : readPolicy(change.policy);
      const others = [policies.named(name), this.#same(body)];
      if (others.some((other) => other !== undefined && other.id !== id)) throw new ApiError(4013);
      const updated: Policy = { id, name, policy: body };
      return { changes: [putObject('policies', updated)], revoked: keysOf(this.#holders([id])), result: updated };
    });
  }

  /** Roles lose the policy. Failures: 4007, 4008 built-in. */
  async remove(ids: readonly number[]): Promise<ChangedObjects<Policy>> {
    const removal = new Removal(this.#store.policies);
    return this.#decisions.change(() => {
      const { good, failed } = sortOut(ids, (id) => {
        if (!removal.has(id)) return 4007;
        return id <= MAX_BUILT_IN_ID ? 4008 : undefined;
      });
      const holders = this.#holders(good);
      return {
        changes: [
          ...holders.map((role) => putObject('roles', { ...role, policies: withoutLinks(role.policies, good) })),
          ...good.map((id) => removeObject('policies', id)),
        ],
        revoked: keysOf(holders),
        result: { changed: removal.of(good), failed },
      };
    });
  }

  #same(body: PolicyBody): Policy | undefined {
    return this.#store.policies.all().find(({ policy }) => samePolicy(policy, body));
  }

  #holders(policies: readonly number[]): Role[] {
    return this.#store.roles.all().filter((role) => role.policies.some((id) => policies.includes(id)));
  }
}

function keysOf(roles: readonly Role[]): RevocationKey[] {
  return roles.map(({ id }): RevocationKey => `role:${id}`);
}
