import { MAX_BUILT_IN_ID } from '../../lib/cluster/access-records.js';
import type { Logger } from '../../lib/log/logger.js';
import { ContextNotJudgedError } from './context-not-judged-error.js';
import type { SecurityRule } from './rbac-model.js';
import type { RbacStore } from './rbac-store.js';
import { SecurityRuleError } from './security-rule-error.js';
import { newBudget, type SecurityRuleTest, securityRuleTest } from './security-rule-test.js';

/** Roles that one line of the log names. */
const MOST_NAMED = 5;
/** The one user for whom built-in rules count: the one dashboards log in with (rest-api.md 5.6). */
const DASHBOARD_USER = 2;

/** Which roles a login with an authorization context gives (rest-api.md 2.1, 5.6). */
export class ContextRoles {
  readonly #store: RbacStore;
  readonly #logger: Pick<Logger, 'warn'>;
  /** A rule that changes is a new object. */
  readonly #tests = new WeakMap<SecurityRule, SecurityRuleTest>();

  constructor(store: RbacStore, logger: Pick<Logger, 'warn'>) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Ids of the roles of which a rule is true, in the order of the ids. */
  of(userId: number, context: Readonly<Record<string, unknown>>): number[] {
    const budget = newBudget();
    const leftOut: string[] = [];
    const roles = this.#store.roles.all().filter((role) => {
      const rules = role.rules.filter((id) => id > MAX_BUILT_IN_ID || userId === DASHBOARD_USER);
      try {
        return rules.some((id) => this.#test(id)?.(context, budget) === true);
      } catch (error) {
        // A rule that another version took and this one cannot read must not keep everybody out.
        if (!(error instanceof ContextNotJudgedError || error instanceof SecurityRuleError)) throw error;
        leftOut.push(`'${role.name}' (${error.message})`);
        return false;
      }
    });
    if (leftOut.length > 0) this.#logger.warn(leftOutText(leftOut));
    return roles.map(({ id }) => id);
  }

  #test(id: number): SecurityRuleTest | undefined {
    const rule = this.#store.rules.get(id);
    if (rule === undefined) return undefined;
    let test = this.#tests.get(rule);
    if (test === undefined) {
      test = securityRuleTest(rule.rule);
      this.#tests.set(rule, test);
    }
    return test;
  }
}

/** One line however many they are: when the time for a context is used up, all others are left out. */
function leftOutText(roles: readonly string[]): string {
  const more = roles.length > MOST_NAMED ? ` and ${roles.length - MOST_NAMED} more` : '';
  return `Roles left out of a login with a context: ${roles.slice(0, MOST_NAMED).join(', ')}${more}.`;
}
