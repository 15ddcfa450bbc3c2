import { byteString } from '../../../lib/config/pattern-text.js';
import type { Rule } from '../../../lib/engine/load/rule.js';
import type { CompiledRule } from '../../../lib/engine/rules/ruleset.js';
import { MatchContext } from '../../../lib/patterns/matcher.js';
import { OsRegex } from '../../../lib/patterns/os-regex.js';
import type { ResponseSettings } from './response-settings.js';

/** The responses of each rule that has any, by the rule's ordinal, in the order of the configuration. */
export type BoundResponses = ReadonlyMap<number, readonly ResponseSettings[]>;

/**
 * Binds responses to the rules of a ruleset (rules-and-alerts.md 8.2), once for all events.
 * @throws PatternError when a `rules_group` is no pattern, which the configuration has checked
 */
export function bindResponses(rules: readonly CompiledRule[], responses: readonly ResponseSettings[]): BoundResponses {
  const context = new MatchContext();
  const tests = responses.map((response) => ({ response, isBoundTo: bindingTest(response, context) }));
  const bound = new Map<number, readonly ResponseSettings[]>();
  for (const { ordinal, rule } of rules) {
    if (rule.level === 0 || rule.noActiveResponse || rule.lowAccuracy) continue;
    const own = tests.filter(({ isBoundTo }) => isBoundTo(rule)).map(({ response }) => response);
    if (own.length > 0) bound.set(ordinal, own);
  }
  return bound;
}

/**
 * Rules about what responses did. By its level alone none of them sets one off: each run of a program writes what it was told
 * to its log, so a response to that would be its own cause, and prolong what is in force for ever.
 */
const ABOUT_RESPONSES = /(?:^|,)\s*active_response\s*(?:,|$)/;

/** `level` and `rules_group` together, or the one that is given; a rule that is named by its id is bound in any case. */
function bindingTest({ level, rulesGroup, rulesId }: ResponseSettings, context: MatchContext): (rule: Rule) => boolean {
  const ids = new Set(rulesId);
  const pattern = rulesGroup === undefined ? undefined : new OsRegex(byteString(rulesGroup));
  const isSelective = level !== undefined || pattern !== undefined;
  return (rule) => {
    if (ids.has(rule.id)) return true;
    if (!isSelective || (level !== undefined && rule.level < level)) return false;
    return pattern === undefined ? !ABOUT_RESPONSES.test(rule.groups) : pattern.test(rule.groups, context);
  };
}
