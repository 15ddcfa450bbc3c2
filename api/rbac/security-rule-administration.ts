import { isDeepStrictEqual } from 'node:util';
import { MAX_BUILT_IN_ID } from '../../lib/cluster/access-records.js';
import { ApiError } from '../http/api-error.js';
import { type AccessDecisions, putObject, removeObject } from './access-decisions.js';
import { type ChangedObjects, Removal, sortOut, withoutLinks } from './changed-objects.js';
import { refuseMore } from './most-objects.js';
import type { RevocationKey, Role, SecurityRule } from './rbac-model.js';
import type { RbacStore } from './rbac-store.js';
import { SecurityRuleError } from './security-rule-error.js';
import { securityRuleTest } from './security-rule-test.js';

type RuleBody = SecurityRule['rule'];

/** What is done to security rules (rest-api.md 6.9). Each change ends the tokens issued with a role that has the rule (2.4). */
export class SecurityRuleAdministration {
  readonly #store: RbacStore;
  readonly #decisions: AccessDecisions;

  constructor(store: RbacStore, decisions: AccessDecisions) {
    this.#store = store;
    this.#decisions = decisions;
  }

  /** @throws ApiError 4003 for a rule that is none, 4005 when there is one of the name, or an equal one */
  async create(name: string, body: RuleBody): Promise<SecurityRule> {
    const { rules } = this.#store;
    checkRule(body);
    return this.#decisions.change(() => {
      this.#refuseTaken(name, body);
      refuseMore('security rules', rules);
      const rule: SecurityRule = { id: rules.nextId(), name, rule: body };
      return { changes: [putObject('rules', rule)], result: rule };
    });
  }

  /** @throws ApiError 4022, 4008 for a built-in one, 4003, 4005 when there is another of the name, or an equal one */
  async update(id: number, change: { readonly name?: string; readonly rule?: RuleBody }): Promise<SecurityRule> {
    const { rules } = this.#store;
    return this.#decisions.change(() => {
      const rule = rules.get(id);
      if (rule === undefined) throw new ApiError(4022);
      if (id <= MAX_BUILT_IN_ID) throw new ApiError(4008);
      const updated: SecurityRule = { id, name: change.name ?? rule.name, rule: change.rule ?? rule.rule };
      checkRule(updated.rule);
      this.#refuseTaken(updated.name, updated.rule, id);
      return { changes: [putObject('rules', updated)], revoked: keysOf(this.#holders([id])), result: updated };
    });
  }

  /** Roles lose the rule. Failures: 4022, 4008 built-in. */
  async remove(ids: readonly number[]): Promise<ChangedObjects<SecurityRule>> {
    const removal = new Removal(this.#store.rules);
    return this.#decisions.change(() => {
      const { good, failed } = sortOut(ids, (id) => {
        if (!removal.has(id)) return 4022;
        return id <= MAX_BUILT_IN_ID ? 4008 : undefined;
      });
      const holders = this.#holders(good);
      return {
        changes: [
          ...holders.map((role) => putObject('roles', { ...role, rules: withoutLinks(role.rules, good) })),
          ...good.map((id) => removeObject('rules', id)),
        ],
        revoked: keysOf(holders),
        result: { changed: removal.of(good), failed },
      };
    });
  }

  #refuseTaken(name: string, body: RuleBody, id?: number): void {
    const others = [
      this.#store.rules.named(name),
      this.#store.rules.all().find(({ rule }) => isDeepStrictEqual(rule, body)),
    ];
    if (others.some((other) => other !== undefined && other.id !== id)) throw new ApiError(4005);
  }

  #holders(rules: readonly number[]): Role[] {
    return this.#store.roles.all().filter((role) => role.rules.some((id) => rules.includes(id)));
  }
}

function keysOf(roles: readonly Role[]): RevocationKey[] {
  return roles.map(({ id }): RevocationKey => `role:${id}`);
}

/** @throws ApiError 4003, which says what is wrong */
function checkRule(body: RuleBody): void {
  try {
    securityRuleTest(body);
  } catch (error) {
    if (!(error instanceof SecurityRuleError)) throw error;
    throw new ApiError(4003, { extra: error.message });
  }
}
