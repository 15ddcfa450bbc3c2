import type { MitreTable } from '../load/mitre-table.js';
import type { CompiledRule } from '../rules/ruleset.js';
import { RuleJson } from './rule-json.js';

/** What alerts of a rule always show, made when the rule has its first: most rules of a ruleset never have one. */
export class RuleJsonTable {
  readonly #mitre: MitreTable;
  /** By the rule's ordinal. */
  readonly #known: (RuleJson | undefined)[];

  /** @param count of the rules */
  constructor(mitre: MitreTable, count: number) {
    this.#mitre = mitre;
    this.#known = Array.from({ length: count }, () => undefined);
  }

  of(rule: CompiledRule): RuleJson {
    return (this.#known[rule.ordinal] ??= new RuleJson(rule, this.#mitre));
  }
}
