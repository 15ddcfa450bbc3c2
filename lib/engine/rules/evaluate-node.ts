import type { EngineEvent } from '../event.js';
import type { RuleRun } from './rule-run.js';
import type { CompiledNode, CompiledRule } from './ruleset.js';

/**
 * Evaluates one node of the tree with everything below it (rules-and-alerts.md 4.2): depth first, siblings in their
 * order, the first match wins and a deeper match beats its ancestors. When the event's steps are used up, no further rule is tried. This is the plain form; faster ones must give the
 * same result.
 *
 * @returns the rule that matched finally, or undefined; `run.parent` is then the rule just above it
 */
export function evaluateNode(node: CompiledNode, event: EngineEvent, run: RuleRun): CompiledRule | undefined {
  const { rule } = node;
  run.trace?.push(rule.attemptLine);
  run.current = rule;
  for (const condition of rule.conditions) {
    if (!condition.holds(event, run)) return undefined;
  }
  if (run.isUsedUp) return undefined;
  run.trace?.push(`*Rule ${String(rule.rule.id)} matched`);
  if (node.children.length > 0) {
    run.trace?.push('*Trying child rules');
    for (const child of node.children) {
      if (run.isUsedUp) break;
      const found = evaluateNode(child, event, run);
      if (found === undefined) continue;
      run.parent ??= rule;
      return found;
    }
  }
  return rule.rule.noalert ? undefined : rule;
}
