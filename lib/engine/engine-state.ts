import { AgentMemory, type AgentMemorySnapshot } from './agents/agent-memory.js';
import type { RememberedEvents } from './correlate/correlation-columns.js';
import type { CorrelationSnapshot } from './correlate/correlation-snapshot.js';
import { CorrelationStore } from './correlate/correlation-store.js';
import { type DiffSnapshot, type DiffStore, MemoryDiffStore } from './correlate/diff-store.js';
import { FirstTimeSeen, type FirstTimeSeenOptions, type FirstTimeSeenSnapshot } from './correlate/first-time-seen.js';
import { Accumulator, type AccumulatorSnapshot } from './decode/accumulator.js';
import type { CompiledRule, Ruleset } from './rules/ruleset.js';
import { Statistics, type StatisticsOptions, type StatisticsSnapshot } from './statistics.js';

export type EngineStateOptions = {
  /** Bound on the estimated memory of remembered events. */
  readonly maxRememberedBytes: number;
  readonly firstTimeSeen: FirstTimeSeenOptions;
  readonly statistics: StatisticsOptions;
};

export const DEFAULT_STATE_OPTIONS: EngineStateOptions = {
  maxRememberedBytes: 128 * 1024 * 1024,
  firstTimeSeen: { listSize: 32, minSize: 14 },
  statistics: { level: 4, maxDiff: 999_000, minDiff: 1250, percentDiff: 150 },
};

/** Counters of the hour that is running, for `stats/totals` (rules-and-alerts.md 11.1). */
export type HourCounters = { alerts: number; events: number; syscheck: number; firewall: number };

/** A state as plain data: what a checkpoint holds. Rules are named by id, so that another ruleset can take it over. */
export type EngineStateSnapshot = {
  readonly correlation: CorrelationSnapshot;
  readonly firedTimes: readonly (readonly [number, number])[];
  readonly ignoredSince: readonly (readonly [number, number])[];
  readonly firstTimeSeen: FirstTimeSeenSnapshot;
  /** Empty when the logs are kept elsewhere. */
  readonly diffs: DiffSnapshot;
  readonly accumulator: AccumulatorSnapshot;
  readonly agents: AgentMemorySnapshot;
  readonly statistics: StatisticsSnapshot;
  readonly hour: HourCounters;
  readonly hourKey: string;
  /** Not in snapshots of earlier versions. */
  readonly hourSince?: number;
  readonly exhausted: readonly (readonly [string, number])[];
  readonly cutSearches: number;
};

/**
 * An event that was received up to so many seconds before the running hour began counts in it: senders give once more what nobody
 * acknowledged, and several of them are never quite in order. One that is older shows a clock that was set back.
 */
const LATE_SECONDS = 3600;

/** What a checkpoint is made of; `events` are those of `snapshot.correlation`, which has none. */
export type EngineStateCapture = { readonly snapshot: EngineStateSnapshot; readonly events: RememberedEvents };

/**
 * Everything that evaluation changes (rules-and-alerts.md 12), apart from the compiled ruleset, which many states can
 * share: the running manager has one, each logtest session another.
 */
export class EngineState {
  readonly ruleset: Ruleset;
  readonly correlation: CorrelationStore;
  readonly firstTimeSeen: FirstTimeSeen;
  readonly diffs: DiffStore;
  readonly accumulator = new Accumulator();
  /** What agents' own modules reported before; it belongs to no ruleset. */
  readonly agents: AgentMemory;
  readonly statistics: Statistics;
  readonly hour: HourCounters = { alerts: 0, events: 0, syscheck: 0, firewall: 0 };
  /** Local hour of the last event; the hourly counters belong to it. */
  hourKey = '';
  /** When the first event of that hour was received, epoch seconds. */
  #hourSince = 0;
  readonly #options: EngineStateOptions;
  readonly #firedTimes: Uint32Array;
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
    this.correlation = new CorrelationStore(ruleset.lists, ruleset.correlationFields, options.maxRememberedBytes);
    this.firstTimeSeen = new FirstTimeSeen(options.firstTimeSeen);
    this.diffs = diffs ?? new MemoryDiffStore();
    this.agents = agents;
    this.statistics = new Statistics(options.statistics);
    this.#firedTimes = new Uint32Array(ruleset.rules.length);
  }

  /** Counts a final match. @returns how often the rule has fired since the last hour change */
  countFired(rule: CompiledRule): number {
    const times = (this.#firedTimes[rule.ordinal] ?? 0) + 1;
    this.#firedTimes[rule.ordinal] = times;
    return times;
  }

  firedTimes(rule: CompiledRule): number {
    return this.#firedTimes[rule.ordinal] ?? 0;
  }

  /** Fired counters that are not zero, in load order: what the hourly totals list. */
  *firedRules(): Iterable<readonly [CompiledRule, number]> {
    for (const rule of this.ruleset.rules) {
      const times = this.firedTimes(rule);
      if (times > 0) yield [rule, times];
    }
  }

  /** The second by which an event is counted: its own, or that in which the running hour began when it comes late. */
  countedAt(second: number): number {
    const since = this.#hourSince;
    return second < since && second >= since - LATE_SECONDS ? since : second;
  }

  /** Starts the counters of a new hour (rules-and-alerts.md 11.1). */
  startHour(hourKey: string, second: number): void {
    this.hourKey = hourKey;
    this.#hourSince = second;
    this.#firedTimes.fill(0);
    this.hour.alerts = this.hour.events = this.hour.syscheck = this.hour.firewall = 0;
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

  snapshot(): EngineStateSnapshot {
    return { ...this.#ownSnapshot(this.correlation.snapshot(), false), agents: this.agents.snapshot() };
  }

  /**
   * The same for checkpoints, which must not hold events up: without the remembered events, which are given apart to be
   * read a part at a time, and without the first-seen keys, which the owner keeps in a file.
   */
  capture(): EngineStateCapture {
    const { events, ...correlation } = this.correlation.capture();
    const own = this.#ownSnapshot({ ...correlation, events: [] }, true);
    return { snapshot: { ...own, agents: this.agents.snapshot() }, events };
  }

  /** Everything but what a state shares with the one before a reload. */
  #ownSnapshot(correlation: CorrelationSnapshot, withoutKeys: boolean): Omit<EngineStateSnapshot, 'agents'> {
    const { rules } = this.ruleset;
    return {
      correlation,
      firedTimes: [...this.firedRules()].map(([rule, times]) => [rule.rule.id, times]),
      ignoredSince: rules.flatMap((rule) => {
        const since = this.ignoredSince(rule);
        return since === undefined ? [] : [[rule.rule.id, since] as const];
      }),
      firstTimeSeen: this.firstTimeSeen.snapshot(withoutKeys),
      diffs: this.diffs instanceof MemoryDiffStore ? this.diffs.snapshot() : [],
      accumulator: this.accumulator.snapshot(),
      statistics: this.statistics.snapshot(),
      hour: { ...this.hour },
      hourKey: this.hourKey,
      hourSince: this.#hourSince,
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
    for (const [id, times] of snapshot.firedTimes) {
      const rule = byId.get(id);
      if (rule !== undefined) this.#firedTimes[rule.ordinal] = times;
    }
    for (const [id, since] of snapshot.ignoredSince) {
      const rule = byId.get(id);
      if (rule !== undefined) this.#ignoredSince.set(rule.ordinal, since);
    }
    this.firstTimeSeen.restore(snapshot.firstTimeSeen);
    if (this.diffs instanceof MemoryDiffStore) this.diffs.restore(snapshot.diffs);
    this.accumulator.restore(snapshot.accumulator);
    this.statistics.restore(snapshot.statistics);
    Object.assign(this.hour, snapshot.hour);
    this.hourKey = snapshot.hourKey;
    this.#hourSince = snapshot.hourSince ?? 0;
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
