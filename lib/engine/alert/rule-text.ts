import { flatBytes } from '../byte-string.js';
import type { CompiledRule } from '../rules/ruleset.js';

/** What stays the same in the text form of all alerts of one rule (rules-and-alerts.md 7.7). */
export type RuleText = {
  /** Behind the id: `: - groups`, with its line end. */
  readonly header: string;
  /** `Rule: 5716 (level 5) -> '`. */
  readonly opening: string;
};

/** The texts of a rule, or of none. */
export function ruleText(compiled: CompiledRule | undefined): RuleText {
  const rule = compiled?.rule;
  return {
    header: flatBytes(`:${rule?.mail === true ? ' mail ' : ''} - ${rule?.groups ?? ''}\n`),
    opening: flatBytes(`Rule: ${String(rule?.id ?? 0)} (level ${String(rule?.level ?? 0)}) -> '`),
  };
}
