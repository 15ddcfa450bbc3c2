import type { MatchContext } from '../../patterns/matcher.js';
import { type CompositeSearch, differs, LINK_STEPS } from '../correlate/composite-condition.js';
import type { CorrelationList } from '../correlate/correlation-list.js';
import type { RememberedEvent } from '../correlate/remembered-event.js';
import type { EngineEvent } from '../event.js';
import { CORRELATION_ATTRIBUTES } from '../load/rule.js';
import type { RuleRun } from '../rules/rule-run.js';

/**
 * Steps that all searches of an explanation may take together, of some 15 ns each: it is made where events wait, and the
 * budget of the event is for what the rules themselves do.
 */
export const EXPLANATION_STEPS = 2_000_000;

/** What a composite rule found when it counted earlier events (rules-and-alerts.md 5.2). */
export type SearchFacts = {
  /** Events that count, the one at hand included. */
  readonly counted: number;
  /** Events that make the rule fire. */
  readonly needed: number;
  /** Seconds. */
  readonly timeframe: number;
  /** What is counted: `rule 5710`, `rules of the group`, `any rule`. */
  readonly of: string;
  /** Names of what must be the same, and of what must differ. */
  readonly same: readonly string[];
  readonly different: readonly string[];
  /** Events that were passed over since something that must differ does not, or a pattern does not match. */
  readonly skipped: number;
  /** Why the search ended short of the number. */
  readonly stop?: 'no more events' | 'older events' | 'used up' | 'missing value' | 'no list' | 'limit';
  /** Names of what must be the same and this event does not have. */
  readonly missing?: readonly string[];
};

/**
 * Does the search of a composite rule without changing anything. Call it before the rule itself searches.
 * @param context what the explanation has left of its steps ({@link EXPLANATION_STEPS}); without any it ends with `limit`
 */
export function explainSearch(
  search: CompositeSearch,
  event: EngineEvent,
  run: RuleRun,
  context: MatchContext,
): SearchFacts {
  const { ruleset } = run.state;
  const facts = run.factsOf(event);
  const correlation = run.state.correlation.of(event.agentId);
  const index = ruleset.lists[search.list]?.indexes[search.index];
  const attribute = (position: number): string => CORRELATION_ATTRIBUTES[position] ?? '';
  const field = (position: number): string => ruleset.correlationFields[position] ?? '';
  const about = {
    needed: search.frequency + 2,
    timeframe: search.timeframe,
    of: listName(ruleset.lists[search.list]?.key),
    same: [...(index?.attributes ?? []).map(attribute), ...(index?.fields ?? []).map(field)],
    different: [...search.different.map(attribute), ...search.differentFields.map(field)],
  };
  if (!correlation.has(search.list)) return { ...about, counted: 1, skipped: 0, stop: 'no list' };
  const missing = [
    ...(index?.attributes ?? []).filter((at) => facts.attributes[at] === undefined).map(attribute),
    ...(index?.fields ?? []).filter((at) => facts.fields[at] === undefined).map(field),
  ];
  if (missing.length > 0) return { ...about, counted: 1, skipped: 0, stop: 'missing value', missing };
  return { ...about, ...count(search, correlation.list(search.list), { facts, now: run.now, context }) };
}

/** The walk of `CompositeCondition`, which leaves no marks. */
function count(
  search: CompositeSearch,
  list: CorrelationList | undefined,
  { facts, now, context }: { readonly facts: RememberedEvent; readonly now: number; readonly context: MatchContext },
): Pick<SearchFacts, 'counted' | 'skipped' | 'stop'> {
  let counted = 1;
  let skipped = 0;
  let steps = 0;
  for (let link = list?.newestLike(facts, search.index); link !== undefined; link = link.older) {
    const past = link.event;
    if (now - past.time > search.timeframe) return { counted, skipped, stop: 'older events' };
    if (++steps > search.maxSteps) return { counted, skipped, stop: 'limit' };
    context.stepsLeft -= LINK_STEPS;
    const counts = differs(search, past, facts) && search.regex?.test(past.log, context) !== false;
    // The answer of a pattern that ran out of steps says nothing.
    if (context.stepsLeft <= 0) return { counted, skipped, stop: 'limit' };
    if (!counts) {
      skipped += 1;
      continue;
    }
    if (past.mark >= search.level) return { counted, skipped, stop: 'used up' };
    if (++counted === search.frequency + 2) return { counted, skipped };
  }
  return { counted, skipped, stop: 'no more events' };
}

function listName(key: string | undefined): string {
  if (key?.startsWith('sid:') === true) return `rule ${key.slice(4)}`;
  return key?.startsWith('group:') === true ? 'the rules of if_matched_group' : 'any rule';
}

/** The counters as a sentence: `4 of 8 events of rule 5710 within 120 s with the same srcip, ...`. */
export function searchText(facts: SearchFacts): string {
  const { counted, needed, of, timeframe, same, different, skipped } = facts;
  const and = [
    ...(same.length > 0 ? [`the same ${same.join(', ')}`] : []),
    ...(different.length > 0 ? [`another ${different.join(', ')}`] : []),
  ];
  const text = `${String(counted)} of ${String(needed)} events of ${of} within ${String(timeframe)} s${
    and.length > 0 ? ` with ${and.join(' and ')}` : ''
  }`;
  const passed = skipped > 0 ? `; ${String(skipped)} passed over` : '';
  const why = reason(facts);
  return `${text}${passed}${why === undefined ? '' : `; ${why}`}`;
}

function reason({ stop, missing }: SearchFacts): string | undefined {
  switch (stop) {
    case 'older events':
      return 'the ones before are older';
    case 'used up':
      return 'the ones before were used up by a composite rule that fired';
    case 'missing value':
      return `this event has no ${(missing ?? []).join(', ')}`;
    case 'no list':
      return 'the rule that if_matched_sid names was not loaded before this one';
    case 'limit':
      return 'the search was cut off at its limit';
    default:
      return undefined;
  }
}
