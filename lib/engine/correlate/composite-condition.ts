import type { Matcher } from '../../patterns/matcher.js';
import type { EngineEvent } from '../event.js';
import type { Condition } from '../rules/condition.js';
import type { RuleRun } from '../rules/rule-run.js';
import type { ChainLink, RememberedEvent } from './remembered-event.js';

/** Earlier events shown with an alert (rules-and-alerts.md 5.2, 7.1). */
const MAX_PREVIOUS = 11;

/** Steps that going to the next remembered event takes: it lies anywhere in memory. */
export const LINK_STEPS = 3;

/** What a composite rule's search needs (rules-and-alerts.md 5.2, 5.3). */
export type CompositeSearch = {
  /** Position of the list in the store; -1 when the rule that it names was not loaded. */
  readonly list: number;
  /** Position of the index in the list; it takes care of the agent, the category and every `same_*`. */
  readonly index: number;
  /** The search over all remembered events, which does not show the completing one. */
  readonly recent: boolean;
  /** Attribute value minus 2. */
  readonly frequency: number;
  readonly timeframe: number;
  readonly level: number;
  /** Whether dynamic fields are compared, so that both events must have some. */
  readonly sameFields: boolean;
  /** Positions in `RememberedEvent.attributes` that must differ or be missing. */
  readonly different: readonly number[];
  /** Positions in `RememberedEvent.fields` none of which may exist in both and be equal. */
  readonly differentFields: readonly number[];
  readonly regex: Matcher | undefined;
  /** Most events one search looks at. */
  readonly maxSteps: number;
};

/** The search for earlier events. It is the last condition of a composite rule. */
export class CompositeCondition implements Condition {
  readonly element = 'frequency';
  readonly search: CompositeSearch;
  /** Counted events of the last search, for traces. */
  lastCount = 0;

  constructor(search: CompositeSearch) {
    this.search = search;
  }

  holds(event: EngineEvent, run: RuleRun): boolean {
    if (this.#find(event, run)) return true;
    // Also those that an enclosing composite had collected (13.1, Q8).
    if (run.previousEvents.length > 0) run.previousEvents = [];
    return false;
  }

  #find(event: EngineEvent, run: RuleRun): boolean {
    const { search } = this;
    this.lastCount = 0;
    const correlation = run.state.correlation.of(event.agentId);
    const list = correlation.list(search.list);
    if (list === undefined) {
      if (!correlation.has(search.list)) run.diagnostics.debug('No sid search.');
      return false;
    }
    if (list.isEmpty) return false;
    const facts = run.factsOf(event);
    let newest: RememberedEvent | undefined;
    let steps = 0;
    for (
      let link: ChainLink | undefined = list.newestLike(facts, search.index);
      link !== undefined;
      link = link.older
    ) {
      const past = link.event;
      if (run.now - past.time > search.timeframe) return false;
      if (++steps > search.maxSteps || !run.charge(LINK_STEPS)) {
        run.state.countCutSearch();
        return false;
      }
      if (!differs(search, past, facts)) continue;
      if (search.regex !== undefined && !run.test(search.regex, past.log)) continue;
      if (past.mark >= search.level) return false;
      const count = this.lastCount;
      if (count < MAX_PREVIOUS && (count < search.frequency || !search.recent)) {
        run.previousEvents[count] ??= past.fullLog;
      }
      if (count < search.frequency) {
        this.lastCount += 1;
        newest ??= past;
        continue;
      }
      facts.mark = search.level;
      if (newest !== undefined) newest.mark = search.level;
      return true;
    }
    return false;
  }
}

/** The `different_*` and `different_field` conditions; a missing value counts as different. */
export function differs(search: CompositeSearch, past: RememberedEvent, facts: RememberedEvent): boolean {
  if (search.sameFields && !(past.hasFields && facts.hasFields)) return false;
  for (const position of search.different) {
    const value = past.attributes[position];
    if (value !== undefined && value === facts.attributes[position]) return false;
  }
  if (search.differentFields.length === 0) return true;
  if (!past.hasFields && !facts.hasFields) return false;
  for (const position of search.differentFields) {
    const value = past.fields[position];
    if (value !== undefined && value === facts.fields[position]) return false;
  }
  return true;
}
