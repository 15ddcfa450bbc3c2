import { AgentMemory, type AgentMemorySnapshot, NO_AGENTS } from './agents/agent-memory.js';
import { CorrelationShards } from './correlate/correlation-shards.js';
import type { CorrelationSnapshot } from './correlate/correlation-snapshot.js';
import { type DiffSnapshot, type DiffStore, MemoryDiffStore } from './correlate/diff-store.js';
import { FirstTimeSeen, type FirstTimeSeenOptions, type FirstTimeSeenSnapshot } from './correlate/first-time-seen.js';
import type { RememberedEvents } from './correlate/remembered-events.js';
import { Accumulator, type AccumulatorSnapshot } from './decode/accumulator.js';
import type { EngineMemory } from './engine-memory.js';
import type { EngineEvent } from './event.js';
import { type CountingSnapshot, HourCounting } from './event-counting.js';
import type { CompiledRule, Ruleset } from './rules/ruleset.js';
import type { LoggedState } from './state-changes.js';
import type { Statistics, StatisticsOptions } from './statistics.js';

export type EngineStateOptions = {
  /** Bound on the estimated memory of remembered events. */
  readonly maxRememberedBytes: number;
  /** Into how many parts remembered events are divided by agent (default 1). */
  readonly shards?: number;
  readonly firstTimeSeen: FirstTimeSeenOptions;
  readonly statistics: StatisticsOptions;
};

export const DEFAULT_STATE_OPTIONS: EngineStateOptions = {
  maxRememberedBytes: 128 * 1024 * 1024,
  firstTimeSeen: { listSize: 32, minSize: 14 },
  statistics: { level: 4, maxDiff: 999_000, minDiff: 1250, percentDiff: 150 },
};

/** A state as plain data: what a checkpoint holds. Rules are named by id, so that another ruleset can take it over. */
export type EngineStateSnapshot = CountingSnapshot & {
  readonly correlation: CorrelationSnapshot;
  readonly ignoredSince: readonly (readonly [number, number])[];
  readonly firstTimeSeen: FirstTimeSeenSnapshot;
  /** Empty when the logs are kept elsewhere. */
  readonly diffs: DiffSnapshot;
  readonly accumulator: AccumulatorSnapshot;
  readonly agents: AgentMemorySnapshot;
  readonly exhausted: readonly (readonly [string, number])[];
  readonly cutSearches: number;
};

/** What a checkpoint is made of; `events` are those of `snapshot.correlation`, which has none. */
export type EngineStateCapture = { readonly snapshot: EngineStateSnapshot; readonly events: RememberedEvents };

/**
 * Everything that evaluation changes (rules-and-alerts.md 12), apart from the compiled ruleset, which many states can
 * share: the running manager has one, each logtest session another.
 */
export class EngineState implements EngineMemory {
  readonly ruleset: Ruleset;
  readonly correlation: CorrelationShards;
  readonly firstTimeSeen: FirstTimeSeen;
  readonly diffs: DiffStore;
  readonly accumulator = new Accumulator();
  /** What agents' own modules reported before; it belongs to no ruleset. */
  readonly agents: AgentMemory;
  readonly counting: HourCounting;
  readonly #options: EngineStateOptions;
  /** When the `ignore` time of rules began, in epoch seconds, by their ordinal. */
  readonly #ignoredSince = new Map<number, number>();
  readonly #exhausted = new Map<string, number>();
  #cutSearches = 0;

  /**
   * @param diffs where `check_diff` keeps its logs; in memory by default
   * @param agents taken over from the state before, on a reload
   */
  constructor(
    ruleset: Ruleset,
    options: EngineStateOptions = DEFAULT_STATE_OPTIONS,
    diffs?: DiffStore,
    agents = new AgentMemory(),
  ) {
    this.ruleset = ruleset;
    this.#options = options;
    const { maxRememberedBytes: maxBytes, shards = 1 } = options;
    this.correlation = new CorrelationShards(ruleset.lists, ruleset.correlationFields, { maxBytes, shards });
    this.firstTimeSeen = new FirstTimeSeen(options.firstTimeSeen);
    this.diffs = diffs ?? new MemoryDiffStore();
    this.agents = agents;
    this.counting = new HourCounting(ruleset, options.statistics);
  }

  get statistics(): Statistics {
    return this.counting.tables;
  }

  get statisticsLevel(): number {
    return this.statistics.level;
  }

  firstSight(event: EngineEvent): string | undefined {
    return this.firstTimeSeen.firstSight(event);
  }

  accumulate(event: EngineEvent, now: number): void {
    this.accumulator.apply(event, now);
  }

  ignoredSince(rule: CompiledRule): number | undefined {
    return this.#ignoredSince.get(rule.ordinal);
  }

  /** Arms the rule's `ignore` timer, or clears it. */
  setIgnoredSince(rule: CompiledRule, second: number | undefined): void {
    if (second === undefined) this.#ignoredSince.delete(rule.ordinal);
    else this.#ignoredSince.set(rule.ordinal, second);
  }

  /** Counts a pattern that exceeded its budget. @param owner `rule <id>` or `decoder <name>` */
  countExhausted(owner: string): void {
    this.#exhausted.set(owner, (this.#exhausted.get(owner) ?? 0) + 1);
  }

  /** Rule or decoder to how often a pattern of it exceeded its budget. */
  get exhausted(): ReadonlyMap<string, number> {
    return this.#exhausted;
  }

  /** Counts a search for earlier events that was given up at its limit. */
  countCutSearch(): void {
    this.#cutSearches += 1;
  }

  get cutSearches(): number {
    return this.#cutSearches;
  }

  /** What a log of changes has, and a capture has not; always in this order. */
  get logged(): readonly LoggedState[] {
    return [this.agents];
  }

  /** Forgets what an agent did that was removed: another one that gets its number begins with nothing. */
  forgetAgent(id: string): void {
    this.agents.deleteAgent(id);
    this.correlation.of(id).forgetAgent(id);
  }

  snapshot(): EngineStateSnapshot {
    return { ...this.#ownSnapshot(this.correlation.snapshot(), false), agents: this.agents.snapshot() };
  }

  /**
   * The same for checkpoints, which must not hold events up: without the remembered events, which are given apart to be
   * read a part at a time, without what is `logged`, and without the first-seen keys, which the owner keeps in a file.
   */
  capture(): EngineStateCapture {
    const { events, ...correlation } = this.correlation.capture();
    const own = this.#ownSnapshot({ ...correlation, events: [] }, true);
    return { snapshot: { ...own, agents: NO_AGENTS }, events };
  }

  /** Everything but what a state shares with the one before a reload. */
  #ownSnapshot(correlation: CorrelationSnapshot, withoutKeys: boolean): Omit<EngineStateSnapshot, 'agents'> {
    const { rules } = this.ruleset;
    return {
      correlation,
      ...this.counting.snapshot(),
      ignoredSince: rules.flatMap((rule) => {
        const since = this.ignoredSince(rule);
        return since === undefined ? [] : [[rule.rule.id, since] as const];
      }),
      firstTimeSeen: this.firstTimeSeen.snapshot(withoutKeys),
      diffs: this.diffs instanceof MemoryDiffStore ? this.diffs.snapshot() : [],
      accumulator: this.accumulator.snapshot(),
      exhausted: [...this.#exhausted],
      cutSearches: this.#cutSearches,
    };
  }

  /** Takes over a snapshot made with this or another ruleset; what belongs to rules that are gone is forgotten. */
  restore(snapshot: EngineStateSnapshot): void {
    this.#restoreOwn(snapshot);
    this.agents.restore(snapshot.agents);
  }

  #restoreOwn(snapshot: Omit<EngineStateSnapshot, 'agents'>): void {
    const { byId } = this.ruleset;
    this.correlation.restore(snapshot.correlation);
    this.counting.restore(snapshot);
    for (const [id, since] of snapshot.ignoredSince) {
      const rule = byId.get(id);
      if (rule !== undefined) this.#ignoredSince.set(rule.ordinal, since);
    }
    this.firstTimeSeen.restore(snapshot.firstTimeSeen);
    if (this.diffs instanceof MemoryDiffStore) this.diffs.restore(snapshot.diffs);
    this.accumulator.restore(snapshot.accumulator);
    for (const [owner, times] of snapshot.exhausted) this.#exhausted.set(owner, times);
    this.#cutSearches = snapshot.cutSearches;
  }

  /** The state for a new ruleset, or new options: everything of rules that still exist is kept (hot reload). */
  transferTo(ruleset: Ruleset, options: EngineStateOptions = this.#options): EngineState {
    const state = new EngineState(ruleset, options, this.diffs, this.agents);
    state.#restoreOwn(this.#ownSnapshot(this.correlation.snapshot(), false));
    return state;
  }
}
