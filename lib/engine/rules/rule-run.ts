import { MatchContext, type Matcher } from '../../patterns/matcher.js';
import type { Subject } from '../../patterns/subject.js';
import { MAX_DIFF_BYTES } from '../correlate/diff-store.js';
import { RememberedEvent } from '../correlate/remembered-event.js';
import type { EngineMemory } from '../engine-memory.js';
import type { Diagnostics, EngineEvent } from '../event.js';
import { EventFields } from '../event-fields.js';
import type { LocalClock } from '../local-clock.js';
import type { SelectorRun } from './condition-run.js';
import type { CompiledRule } from './ruleset.js';

/** Steps that patterns and searches of an event may take in all, and one match may take (see `MatchContext`). */
export type StepBudget = { readonly event: number; readonly match: number };

/** What is left of a budget that was used up. */
const USED_UP = -1;

/** Steps that finding out what one gate lets through may take. */
const GATE_STEPS = 50_000;

/** Notices of what an event added to the persistent helper files. The engine keeps its own copy in its state. */
export interface RuleRunHooks {
  /** A new key for `queue/fts/fts-queue`. */
  firstTimeSeen?(key: string): void;
  /** A record for `queue/fts/ig-queue`. */
  ignored?(key: string): void;
}

/**
 * What the evaluation of one event shares: its time, its step budget, and what correlation collected. One object lives as
 * long as its engine and is reset for each event, so that trying rules allocates nothing.
 */
export class RuleRun implements SelectorRun {
  readonly context = new MatchContext();
  readonly state: EngineMemory;
  readonly diagnostics: Diagnostics;
  readonly clock: LocalClock;
  readonly hooks: RuleRunHooks;
  readonly #budget: StepBudget;
  /** Dynamic fields of the event by their numbers. */
  readonly fields: EventFields;
  /** The log of the event, for those who pass over rules that it cannot match. */
  log: Subject = this.context.pin('');
  /** Seconds since the epoch at which the event was received. */
  now = 0;
  /** The rule whose conditions are being tried, for counting exhausted budgets. */
  current: CompiledRule | undefined = undefined;
  /** Full logs of earlier events that a composite rule counted, newest first; a slot may be empty (5.2). */
  previousEvents: (string | undefined)[] = [];
  /** Old content found by `check_diff`. */
  previousLog: string | undefined = undefined;
  /** The rule just above the innermost match (4.2). */
  parent: CompiledRule | undefined = undefined;
  /** Trace of the attempts, when asked for (4.3). */
  trace: string[] | undefined = undefined;
  #facts: RememberedEvent | undefined = undefined;
  /** Steps that the event has left; below 0 it has used them up. */
  #left = 0;
  /** What gates find out is remembered, and must not change what the event's own matches take. */
  readonly #gateContext = new MatchContext();
  /** Steps left for finding out what a gate lets through; -1 outside of that. */
  #gateLeft = -1;
  #gateComplete = true;

  constructor(
    state: EngineMemory,
    budget: StepBudget,
    clock: LocalClock,
    diagnostics: Diagnostics,
    hooks: RuleRunHooks,
  ) {
    this.state = state;
    this.fields = new EventFields(state.ruleset.fields);
    this.#budget = budget;
    this.clock = clock;
    this.diagnostics = diagnostics;
    this.hooks = hooks;
  }

  /** Makes ready for an event received at `now` (epoch seconds). */
  begin(now: number, trace: string[] | undefined): void {
    this.now = now;
    this.trace = trace;
    this.current = undefined;
    this.parent = undefined;
    this.previousLog = undefined;
    if (this.previousEvents.length > 0) this.previousEvents = [];
    this.#facts = undefined;
    this.fields.reset();
    this.#left = this.#budget.event;
    this.context.forget();
  }

  /** Steps that the event has taken. */
  get steps(): number {
    return this.#budget.event - this.#left;
  }

  /** Whether the event has no steps left: no further rule is tried. The rule that used them up is counted. */
  get isUsedUp(): boolean {
    return this.#left < 0;
  }

  /** Gives decoding half of the event's budget, so that rules have some whatever it takes. */
  beginDecoding(): void {
    this.context.stepsLeft = this.#budget.event / 2;
    this.context.exhausted = false;
  }

  /** Makes the log ready for the patterns that look at it, and what the event has known to those who pass over rules. */
  beginRules(event: EngineEvent): void {
    this.log = this.context.pin(event.log);
    this.fields.load(event);
  }

  /**
   * Takes what decoding used off the budget, and counts the decoder if it used it up.
   * @param decoder name of the one that did; undefined: that of the event
   */
  endDecoding(event: EngineEvent, decoder: string | undefined): void {
    const { context } = this;
    this.#left -= this.#budget.event / 2 - Math.max(0, context.stepsLeft);
    if (!context.exhausted && decoder === undefined) return;
    context.exhausted = false;
    this.state.countExhausted(`decoder ${decoder ?? event.decoder?.name ?? 'none'}`);
  }

  get minuteOfDay(): number {
    return this.clock.minuteOfDay(this.now);
  }

  get weekday(): number {
    return this.clock.weekday(this.now);
  }

  /** Whether the pattern matches within the budget; a pattern that exceeds it does not match, and its rule is counted. */
  test(matcher: Matcher, subject: string): boolean {
    const inGate = this.#gateLeft >= 0;
    const left = inGate ? this.#gateLeft : this.#left;
    if (left < 0) return false;
    const context = inGate ? this.#gateContext : this.context;
    const { match } = this.#budget;
    const allowed = left < match ? left : match;
    context.stepsLeft = allowed;
    const matched = matcher.test(subject, context);
    const { stepsLeft } = context;
    const exceeded = stepsLeft < 0 || context.exhausted;
    const after = left - allowed + (exceeded ? 0 : stepsLeft);
    if (inGate) this.#gateLeft = after;
    else this.#left = exceeded && allowed === left ? USED_UP : after;
    return exceeded ? this.#exceed(context) : matched;
  }

  #exceed(context: MatchContext): false {
    context.exhausted = false;
    if (this.#gateLeft >= 0) this.#gateComplete = false;
    else this.#countCurrent();
    return false;
  }

  #countCurrent(): void {
    if (this.current !== undefined) this.state.countExhausted(`rule ${String(this.current.rule.id)}`);
  }

  /** Tests until `endGate` take their steps from a budget of their own: they do not belong to one event. */
  beginGate(): void {
    this.#gateContext.forget();
    this.#gateLeft = GATE_STEPS;
    this.#gateComplete = true;
  }

  /** @returns the steps that the tests took, and whether none of them ran out of steps */
  endGate(): { readonly steps: number; readonly complete: boolean } {
    const steps = GATE_STEPS - this.#gateLeft;
    this.#gateLeft = -1;
    return { steps, complete: this.#gateComplete };
  }

  /** Takes steps off the event's budget; false when it has not so many left, which is counted as `test` does. */
  charge(steps: number): boolean {
    if (this.#left < 0) return false;
    this.#left -= steps;
    if (this.#left >= 0) return true;
    this.#countCurrent();
    return false;
  }

  /** What correlation compares of this event; made once. */
  factsOf(event: EngineEvent): RememberedEvent {
    this.#facts ??= RememberedEvent.of(event, this.now, this.state.ruleset.correlationFields);
    return this.#facts;
  }

  /** Whether the event's decoder finds it new (rules-and-alerts.md 6.2). */
  isFirstSight(event: EngineEvent): boolean {
    if (event.firstSeen) return true;
    const key = this.state.firstSight(event);
    if (key === undefined) return false;
    this.hooks.firstTimeSeen?.(key);
    return true;
  }

  /** Whether the log differs from the one stored for its host and the rule (rules-and-alerts.md 6.3); stores it. */
  differsFromLast(event: EngineEvent, ruleId: number): boolean {
    const { log, hostname } = event;
    if (log.length >= MAX_DIFF_BYTES) {
      this.diagnostics.error(`Event size (${String(log.length)}) too long for diff.`);
      return false;
    }
    const last = this.state.diffs.last(hostname, ruleId);
    if (last === log) return false;
    this.state.diffs.store(hostname, ruleId, log);
    if (last === undefined) return false;
    this.previousEvents = ['Previous output:', last];
    this.previousLog = last;
    return true;
  }
}
