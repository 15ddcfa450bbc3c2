import type { EngineEvent } from '../event.js';
import type { CandidateList } from './candidate-list.js';
import { makeSelector } from './candidate-selector.js';
import type { RuleRun } from './rule-run.js';
import type { CandidateSelector, CompiledNode, CompiledRule, RuleCandidate } from './ruleset.js';

/**
 * Evaluates what is below a node, or the roots: the same result as `evaluateNode` on each of them in turn, for a fraction
 * of the attempts. What siblings an event can match at all is looked up instead of tried.
 *
 * @returns the rule that matched finally, or undefined; `run.parent` is then the rule just above it
 */
export function evaluateCandidates(
  list: CandidateList<RuleCandidate>,
  event: EngineEvent,
  run: RuleRun,
): CompiledRule | undefined {
  const { candidates } = list;
  const { log, fields } = run;
  for (let i = list.next(0, log, fields); i >= 0; i = list.next(i + 1, log, fields)) {
    if (run.isUsedUp) return undefined;
    const candidate = candidates[i];
    const rule = candidate && evaluateCandidate(candidate, event, run);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

function evaluateCandidate(candidate: RuleCandidate, event: EngineEvent, run: RuleRun): CompiledRule | undefined {
  const { conditions, rule } = candidate;
  if (!run.fields.hasAll(candidate.asks)) return undefined;
  run.current = rule;
  for (const condition of conditions) {
    if (!condition.holds(event, run)) return undefined;
  }
  // What a condition says that ran out of steps is nothing to go by.
  if (run.isUsedUp) return undefined;
  if (candidate.hasChildren) {
    const found = evaluateCandidates(selectorOf(candidate.node, run).select(event, run), event, run);
    if (found !== undefined) {
      run.parent ??= rule;
      return found;
    }
  }
  return candidate.result;
}

function selectorOf(node: CompiledNode, run: RuleRun): CandidateSelector {
  return (node.selector ??= makeSelector(node.children, run.state.ruleset.selectorMemory));
}
