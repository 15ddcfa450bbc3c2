import type { ScaLanguage } from './line-pattern.js';
import type { ScaRuleKind } from './sca-rule.js';
import type { Variables } from './variables.js';

/** How the rules of a check come together (integrity-and-inventory.md 10.3). */
export type Condition = 'all' | 'any' | 'none';

/** A rule as it stands in a policy. */
export type PolicyRule = {
  /** As it is told. */
  readonly text: string;
  /** With variables replaced. */
  readonly expanded: string;
  readonly kind: ScaRuleKind;
};

/** What is evaluated: a check, or the requirements of a policy. */
export type RuleSet = {
  readonly title: string;
  readonly condition: Condition;
  readonly language: ScaLanguage;
  readonly rules: readonly PolicyRule[];
};

export type ScaCheck = RuleSet & {
  /** 1 to 2147483647; unique among all policies of a host. */
  readonly id: number;
  readonly description: string | undefined;
  readonly rationale: string | undefined;
  readonly remediation: string | undefined;
  readonly references: readonly string[];
  /** Each key once. */
  readonly compliance: readonly (readonly [key: string, values: readonly string[]])[];
};

/** A policy as it was read (integrity-and-inventory.md 10.2). */
export type ScaPolicy = {
  readonly id: string;
  /** As the policy names itself. */
  readonly file: string;
  readonly name: string;
  readonly description: string;
  readonly references: readonly string[];
  readonly requirements: RuleSet | undefined;
  readonly variables: Variables;
  /** By their ids, rising. */
  readonly checks: readonly ScaCheck[];
};
