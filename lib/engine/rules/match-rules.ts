import type { EngineEvent } from '../event.js';
import { evaluateCandidates } from './evaluate-candidates.js';
import { evaluateNode } from './evaluate-node.js';
import { ignoreKey } from './ignore-key.js';
import type { RuleRun } from './rule-run.js';
import type { CompiledRule, Ruleset } from './ruleset.js';

/** `live`: as svc-analysisd works; `test`: as logtest does (rules-and-alerts.md 9.6). */
export type MatchMode = 'live' | 'test';

/** Finds the rule of the tree that takes an event; sets `run.parent`. */
export type RuleEvaluator = (ruleset: Ruleset, event: EngineEvent, run: RuleRun) => CompiledRule | undefined;

/** What the rules made of an event. */
export type RuleMatch = {
  /** The final rule, after a substitution by its parent. */
  readonly rule: CompiledRule;
  /** Fired counter of the rule that matched; undefined for a rule that the decoder named. */
  readonly firedTimes: number | undefined;
  /** In its ignore time, and there is no parent to stand in (or this is a test): no alert, nothing remembered. */
  readonly suppressed: boolean;
};

/**
 * Finds the final rule of a decoded event and does what follows from it to the state (rules-and-alerts.md 4.1, step 6).
 * Events of category `ossec-alert` must name their rule; the caller drops the others.
 *
 * @param evaluate finds the rule in a way of its own, with the same result
 * @returns undefined when no rule took the event
 */
export function matchRules(
  ruleset: Ruleset,
  event: EngineEvent,
  run: RuleRun,
  mode: MatchMode,
  evaluate?: RuleEvaluator,
): RuleMatch | undefined {
  const matched = finalRule(ruleset, event, run, evaluate);
  if (matched === undefined) return undefined;
  const { state } = run;
  let { rule } = matched;
  const { firedTimes } = matched;
  if (rule.rule.level === 0) return { rule, firedTimes, suppressed: false };
  if (rule.rule.ignoreTime > 0 && isInIgnoreTime(rule, run, mode)) {
    // A test shows the suppressed rule itself; the manager lets the parent stand in.
    if (mode === 'test' || run.parent === undefined) return { rule, firedTimes, suppressed: true };
    rule = run.parent;
    run.previousEvents = [];
  }
  // `check_if_ignored` never holds: the reference compares with lines that still have their line end (13.1, Q14).
  if (rule.rule.ignore !== undefined) run.hooks.ignored?.(ignoreKey(event, rule.rule.ignore));
  if (rule.remembersIn.length > 0) state.correlation.of(event.agentId).remember(run.factsOf(event), rule.remembersIn);
  return { rule, firedTimes, suppressed: false };
}

function finalRule(
  ruleset: Ruleset,
  event: EngineEvent,
  run: RuleRun,
  evaluate: RuleEvaluator | undefined,
): { readonly rule: CompiledRule; readonly firedTimes: number | undefined } | undefined {
  if (event.category === 'ossec-alert') {
    const named = event.generatedRule === undefined ? undefined : ruleset.byId.get(event.generatedRule);
    return named === undefined ? undefined : { rule: named, firedTimes: undefined };
  }
  // A trace shows every attempt, so all of them are made then.
  const find = evaluate ?? (run.trace === undefined ? evaluateFast : evaluateRoots);
  const rule = find(ruleset, event, run);
  if (rule === undefined) return undefined;
  return { rule, firedTimes: run.state.counting.fired(rule) };
}

function evaluateFast(ruleset: Ruleset, event: EngineEvent, run: RuleRun): CompiledRule | undefined {
  const roots = ruleset.candidates.get(event.category);
  if (roots === undefined) return undefined;
  run.beginRules(event);
  return evaluateCandidates(roots, event, run);
}

/** Evaluates the top-level nodes of the event's category in the plain way. */
function evaluateRoots(ruleset: Ruleset, event: EngineEvent, run: RuleRun): CompiledRule | undefined {
  for (const root of ruleset.roots) {
    if (run.isUsedUp) break;
    const rule = root.category === event.category ? evaluateNode(root, event, run) : undefined;
    if (rule !== undefined) return rule;
  }
  return undefined;
}

/** Looks at the rule's `ignore` timer, which all agents share, and arms it. */
function isInIgnoreTime(rule: CompiledRule, run: RuleRun, mode: MatchMode): boolean {
  const since = run.state.ignoredSince(rule, run.now);
  if (since === undefined) {
    run.state.setIgnoredSince(rule, run.now);
    return false;
  }
  if (run.now - since < rule.rule.ignoreTime) return true;
  run.state.setIgnoredSince(rule, mode === 'test' ? undefined : run.now);
  return false;
}
