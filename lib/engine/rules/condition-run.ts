import type { Matcher } from '../../patterns/matcher.js';
import type { EngineEvent } from '../event.js';
import type { EventFields } from '../event-fields.js';

/** What a condition may ask of the evaluation of one event. */
export interface ConditionRun {
  /** Dynamic fields of the event by their numbers. */
  readonly fields: EventFields;
  readonly minuteOfDay: number;
  readonly weekday: number;
  /** Whether the pattern matches within the budget. */
  test(matcher: Matcher, subject: string): boolean;
  /** Takes steps off the event's budget; false when it has not so many left. */
  charge(steps: number): boolean;
  /** Whether the event's decoder finds it new (rules-and-alerts.md 6.2). */
  isFirstSight(event: EngineEvent): boolean;
  /** Whether the log differs from the one stored for its host and the rule (rules-and-alerts.md 6.3); stores it. */
  differsFromLast(event: EngineEvent, ruleId: number): boolean;
}

/** What finding out which siblings an event can match takes beside. */
export interface SelectorRun extends ConditionRun {
  /** Whether the event has no steps left. */
  readonly isUsedUp: boolean;
  /** Tests until `endGate` take their steps from a budget of their own: they do not belong to one event. */
  beginGate(): void;
  /** @returns the steps that the tests took, and whether none of them ran out of steps */
  endGate(): { readonly steps: number; readonly complete: boolean };
}
