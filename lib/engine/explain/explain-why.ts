import { CompositeCondition } from '../correlate/composite-condition.js';
import type { SourcePlace } from '../event.js';
import type { EngineRuleset } from '../load/engine-ruleset.js';
import { describePlace } from '../load/ruleset-error.js';
import type { EventOutcome } from '../outcome.js';
import type { CompiledNode, CompiledRoot, CompiledRule, Ruleset } from '../rules/ruleset.js';
import { failureText } from './describe-condition.js';
import type { Explainer } from './explainer.js';
import { alertText } from './explanation.js';
import type { RuleWalk } from './rule-walk.js';
import { shownText } from './shown-text.js';

/** Something that was said while the ruleset was loaded. */
export type LoadMessage = { readonly text: string; readonly place: SourcePlace | undefined };

/** Why a rule did not fire on an event. */
export type WhyNot = {
  readonly rule: number;
  /** It did fire. */
  readonly fired: boolean;
  /** What stopped it, in a sentence. */
  readonly answer: string;
  /** What else there is to know: what would stop it next, what was said when it was loaded. */
  readonly details: readonly string[];
};

/** A way from a root to a place of the rule, both included. */
type Path = readonly CompiledNode[];

/** Where a way ends for the event: at the place `reached`, which was tried and failed, or which was never tried. */
type Stop = { readonly path: Path; readonly reached: number; readonly answer: string };

/**
 * Says why a rule did not fire, after its event went through an engine with an explainer: names the first ancestor or
 * sibling on the way from the category root that stopped it, or why the rule has no such way.
 *
 * @param messages of the load of the ruleset; those about the rule are shown
 */
export function explainWhy(
  id: number,
  ruleset: EngineRuleset,
  explainer: Explainer,
  outcome: EventOutcome,
  messages: readonly LoadMessage[],
): WhyNot {
  const about = messages.filter((message) => concerns(message, id)).map(messageText);
  const rule = ruleset.rules.byId.get(id);
  const name = `Rule ${String(id)}`;
  if (rule === undefined) {
    const [first, ...rest] = about;
    return first === undefined
      ? { rule: id, fired: false, answer: `${name} is in no rule file that was loaded.`, details: [] }
      : { rule: id, fired: false, answer: `${name} was not loaded: ${first}`, details: rest };
  }
  const place = `${name} is at ${describePlace({ file: rule.rule.file, line: rule.rule.line })}.`;
  const details = [place, ...about];
  const { walk } = explainer;
  const ignored = `is in its ignore time of ${String(rule.rule.ignoreTime)} s${since(walk)}`;
  if (outcome.rule === rule) {
    if (rule.rule.level > 0 && !outcome.responds) {
      return { rule: id, fired: false, answer: `${name} matched, but ${ignored}: no alert.`, details };
    }
    return { rule: id, fired: true, answer: `${name} did fire: ${alertText(outcome, ruleset.logLevel)}.`, details };
  }
  if (walk === undefined) {
    const named = outcome.event.category === 'ossec-alert' && outcome.rule !== undefined;
    const answer = named
      ? `The event itself names rule ${String(outcome.rule?.rule.id)}; no rule is tried on it.`
      : 'The event does not come to the rules.';
    return { rule: id, fired: false, answer, details };
  }
  if (walk.matched === rule) {
    const answer = `${name} matched, but ${ignored}: its parent ${String(outcome.rule?.rule.id)} stands in.`;
    return { rule: id, fired: false, answer, details };
  }
  const stop = furthest(pathsTo(rule, ruleset.rules), outcome, walk);
  if (stop === undefined) return { rule: id, fired: false, answer: `${name} has no place in the tree.`, details };
  return {
    rule: id,
    fired: false,
    answer: stop.answer,
    details: [...unreached(stop, walk), ...uncounted(rule, stop, outcome, ruleset.rules), ...details],
  };
}

function since(walk: RuleWalk | undefined): string {
  return walk?.ignoredSince === undefined ? '' : `, which began at ${isoTime(walk.ignoredSince)}`;
}

/** A message names the rule in its place or its text. */
function concerns({ text, place }: LoadMessage, id: number): boolean {
  if (place?.ruleId !== undefined) return place.ruleId === id;
  return new RegExp(`rule\\b.*(?<!\\d)${String(id)}(?!\\d)`, 'i').test(text);
}

function messageText({ text, place }: LoadMessage): string {
  return place === undefined ? shownText(text) : `${shownText(text)} (${describePlace(place)})`;
}

function pathsTo(rule: CompiledRule, { roots }: Ruleset): Path[] {
  const found: Path[] = [];
  const search = (node: CompiledNode, above: Path): void => {
    const path = [...above, node];
    if (node.rule === rule) found.push(path);
    for (const child of node.children) search(child, path);
  };
  for (const root of roots) search(root, []);
  return found;
}

/** Of all ways to the rule, the one on which the event came furthest. */
function furthest(paths: readonly Path[], outcome: EventOutcome, walk: RuleWalk): Stop | undefined {
  let best: Stop | undefined;
  for (const path of paths) {
    const stop = stopOn(path, outcome, walk);
    if (best === undefined || stop.reached > best.reached) best = stop;
  }
  return best;
}

function stopOn(path: Path, outcome: EventOutcome, walk: RuleWalk): Stop {
  for (const [reached, node] of path.entries()) {
    const attempt = walk.at(node);
    if (attempt === undefined) return { path, reached, answer: notTried(path, reached, outcome, walk) };
    if (attempt.failed !== undefined) {
      const who = reached === path.length - 1 ? nameOf(node) : `${nameOf(node)}, above it,`;
      return { path, reached, answer: `${who} was tried, and did not match: ${failureText(attempt.failed)}.` };
    }
  }
  // Every node matched, the rule itself too, and yet it is not the one the event ended at.
  const last = path[path.length - 1];
  const name = last === undefined ? 'The rule' : nameOf(last);
  const winner = walk.matched === undefined ? '' : ` ${String(walk.matched.rule.id)}`;
  const answer =
    last !== undefined && walk.at(last)?.result === 'passed'
      ? `${name} matched, but says noalert, and none of its children matched.`
      : `${name} matched, but so did rule${winner} below it, and the deeper match wins.`;
  return { path, reached: path.length, answer };
}

/** Why the node at `reached` was not tried, though everything above it matched. */
function notTried(path: Path, reached: number, outcome: EventOutcome, walk: RuleWalk): string {
  const node = path[reached];
  if (node === undefined) return '';
  const name = reached === path.length - 1 ? nameOf(node) : `${nameOf(node)}, above it,`;
  const parent = path[reached - 1];
  const { event } = outcome;
  if (parent === undefined) {
    const { category } = node as CompiledRoot;
    const decoder = event.decoder === undefined ? 'no decoder took it' : `decoder '${shownText(event.decoder.name)}'`;
    if (category !== event.category) {
      return `${name} is for events of category ${category}; this one is of category ${event.category} (${decoder}).`;
    }
  }
  const winner = winningSibling(parent?.children ?? [], node, walk);
  if (winner === undefined) return `${name} was not tried: another rule of its category took the event before.`;
  const { id, level } = winner.rule.rule;
  const zero = level === 0 ? ', which comes before all others since its level is 0' : '';
  const below =
    walk.matched === undefined || walk.matched === winner.rule
      ? ''
      : ` (with rule ${String(walk.matched.rule.id)} below it)`;
  return `${name} was not tried: its sibling ${String(id)}${zero}, was tried earlier and took the event${below}.`;
}

/** The sibling before a node that took the event. */
function winningSibling(
  siblings: readonly CompiledNode[],
  node: CompiledNode,
  walk: RuleWalk,
): CompiledNode | undefined {
  return siblings.slice(0, Math.max(0, siblings.indexOf(node))).find((sibling) => {
    const result = walk.at(sibling)?.result;
    return result === 'final' || result === 'through';
  });
}

/** What would stop the rule next: conditions of the nodes that were not tried. */
function unreached({ path, reached }: Stop, walk: RuleWalk): string[] {
  const node = path[reached];
  if (node === undefined) return [];
  const rest = path.slice(walk.at(node) === undefined ? reached : reached + 1);
  return rest.flatMap((each) => {
    const failed = walk.wouldFail(each.rule);
    return failed === undefined ? [] : [`${nameOf(each)} would not match either: ${failureText(failed)}.`];
  });
}

/** What keeps the event at hand out of the count of a composite rule that was short of events. */
function uncounted(rule: CompiledRule, { path, reached }: Stop, outcome: EventOutcome, ruleset: Ruleset): string[] {
  const final = outcome.rule;
  const search = rule.conditions.find((condition) => condition instanceof CompositeCondition)?.search;
  if (search === undefined || final === undefined || reached !== path.length - 1) return [];
  if (search.list < 0 || (outcome.responds && final.remembersIn.includes(search.list))) return [];
  const name = `This event is not counted for it later: it ended at rule ${String(final.rule.id)}`;
  if (final.rule.level === 0) return [`${name}, and events of level 0 are not remembered.`];
  if (!outcome.responds) return [`${name}, which is in its ignore time.`];
  const own = final.remembersIn.some((list) => ruleset.lists[list]?.key === `sid:${String(final.rule.id)}`);
  return own
    ? [`${name}, which some if_matched_sid names; such events count for those rules and for no if_matched_group.`]
    : [`${name}, which it does not count.`];
}

function nameOf({ rule }: CompiledNode): string {
  return `Rule ${String(rule.rule.id)}`;
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
