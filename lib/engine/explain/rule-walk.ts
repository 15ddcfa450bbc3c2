import { MatchContext } from '../../patterns/matcher.js';
import type { EngineEvent } from '../event.js';
import { isStateful } from '../rules/condition.js';
import type { RuleRun } from '../rules/rule-run.js';
import type { CompiledNode, CompiledRule, Ruleset } from '../rules/ruleset.js';
import { type ConditionFacts, describeCondition } from './describe-condition.js';

/**
 * How an attempt of a rule ended.
 * - `failed`: a condition did not hold.
 * - `final`: it is the rule the event ends at.
 * - `through`: it matched, and so did a rule below it, which wins.
 * - `passed`: it matched, but says `noalert`, and nothing below it matched.
 */
export type AttemptResult = 'failed' | 'final' | 'through' | 'passed';

/** One attempt of a rule at one of its places in the tree. */
export type RuleAttempt = {
  readonly node: CompiledNode;
  /** 0 for the category roots. */
  readonly depth: number;
  result: AttemptResult;
  /** The first condition that did not hold. */
  failed: ConditionFacts | undefined;
  /** Of a rule that matched: its conditions. */
  held: readonly ConditionFacts[];
};

/**
 * Evaluates the tree as `evaluateNode` words it, with the same effects on the state, and keeps every attempt. Explanations
 * come from here; whatever evaluates events in earnest must agree with it.
 */
export class RuleWalk {
  /** In the order in which they were made. */
  readonly attempts: RuleAttempt[] = [];
  readonly #byNode = new Map<CompiledNode, RuleAttempt>();
  readonly #event: EngineEvent;
  readonly #run: RuleRun;
  /** Of all searches that are described, so that no number of rules makes an explanation long. */
  readonly #context = new MatchContext();
  /** The rule that matched finally, before its `ignore` time is looked at. */
  matched: CompiledRule | undefined = undefined;
  /** When the `ignore` time of that rule began; undefined when it is not armed. */
  ignoredSince: number | undefined = undefined;

  /** @param steps that searches may take to be described, see `EXPLANATION_STEPS` */
  constructor(event: EngineEvent, run: RuleRun, steps: number) {
    this.#event = event;
    this.#run = run;
    this.#context.stepsLeft = steps;
  }

  /** Evaluates the top-level nodes of the event's category. @returns the final rule */
  evaluate(ruleset: Ruleset): CompiledRule | undefined {
    for (const root of ruleset.roots) {
      if (root.category !== this.#event.category || this.#run.isUsedUp) continue;
      this.matched = this.#node(root, 0);
      if (this.matched === undefined) continue;
      this.ignoredSince = this.#run.state.ignoredSince(this.matched, this.#run.now);
      return this.matched;
    }
    return undefined;
  }

  /** The attempt at a place, if it was reached. */
  at(node: CompiledNode): RuleAttempt | undefined {
    return this.#byNode.get(node);
  }

  /**
   * The first condition of a rule that would not hold, of those that change nothing; for rules that were not reached. Takes
   * its steps from what the event has left.
   */
  wouldFail(rule: CompiledRule): ConditionFacts | undefined {
    const run = this.#run;
    // An exhausted budget is nobody's then.
    run.current = undefined;
    const at = rule.conditions.findIndex((each) => !isStateful(each) && !each.holds(this.#event, run));
    return at < 0 ? undefined : this.#describe(rule, at);
  }

  #describe(rule: CompiledRule, at: number): ConditionFacts {
    return describeCondition(rule, at, { event: this.#event, run: this.#run, context: this.#context });
  }

  #node(node: CompiledNode, depth: number): CompiledRule | undefined {
    const { rule } = node;
    const run = this.#run;
    const attempt: RuleAttempt = { node, depth, result: 'failed', failed: undefined, held: [] };
    this.attempts.push(attempt);
    this.#byNode.set(node, attempt);
    run.trace?.push(rule.attemptLine);
    run.current = rule;
    const held: ConditionFacts[] = [];
    for (const [at, condition] of rule.conditions.entries()) {
      const facts = this.#describe(rule, at);
      if (!condition.holds(this.#event, run) || run.isUsedUp) {
        attempt.failed = facts;
        return undefined;
      }
      held.push(facts);
    }
    attempt.held = held;
    run.trace?.push(`*Rule ${String(rule.rule.id)} matched`);
    if (node.children.length > 0) {
      run.trace?.push('*Trying child rules');
      for (const child of node.children) {
        if (run.isUsedUp) break;
        const found = this.#node(child, depth + 1);
        if (found === undefined) continue;
        run.parent ??= rule;
        attempt.result = 'through';
        return found;
      }
    }
    attempt.result = rule.rule.noalert ? 'passed' : 'final';
    return rule.rule.noalert ? undefined : rule;
  }
}
