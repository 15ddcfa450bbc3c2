import type { AgentKnowledge } from './agents/agent-knowledge.js';
import type { CorrelationStore } from './correlate/correlation-store.js';
import type { DiffStore } from './correlate/diff-store.js';
import type { EngineEvent } from './event.js';
import type { EventCounting } from './event-counting.js';
import type { CompiledRule, Ruleset } from './rules/ruleset.js';

/**
 * What an engine remembers from event to event (rules-and-alerts.md 12). What events of one agent correlate with lies where
 * they are analysed. The rest belongs to all agents, or is seldom looked at: whoever analyses only some of them has to ask for it
 * in the order of the events.
 */
export interface EngineMemory {
  readonly ruleset: Ruleset;
  readonly agents: AgentKnowledge;
  readonly correlation: { readonly of: (agentId: string) => CorrelationStore };
  readonly counting: EventCounting;
  readonly diffs: DiffStore;
  /** Level of the statistics alert (6.8). */
  readonly statisticsLevel: number;
  /** @returns the key of an event that is new to its decoder, as it is stored then; undefined when it is known or has none (6.2) */
  firstSight(event: EngineEvent): string | undefined;
  /** Joins the fields of events about one id (decoding.md 4.10). @param now epoch seconds */
  accumulate(event: EngineEvent, now: number): void;
  /**
   * When the rule's `ignore` time began, epoch seconds (5.4).
   * @param now epoch seconds: whoever has to ask may answer by what he knows while the event lies in that time
   */
  ignoredSince(rule: CompiledRule, now: number): number | undefined;
  /** Begins the rule's `ignore` time, or ends it. */
  setIgnoredSince(rule: CompiledRule, second: number | undefined): void;
  /** Counts a pattern that exceeded its budget. @param owner `rule <id>` or `decoder <name>` */
  countExhausted(owner: string): void;
  /** Counts a search for earlier events that was given up at its limit. */
  countCutSearch(): void;
}
