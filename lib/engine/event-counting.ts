import { QUEUE_IDS } from '../events/queue-ids.js';
import type { EngineEvent } from './event.js';
import { LocalClock } from './local-clock.js';
import type { CompiledRule, Ruleset } from './rules/ruleset.js';
import { Statistics, type StatisticsOptions, type StatisticsSnapshot } from './statistics.js';

/** Counters of the hour that is running, for `stats/totals` (rules-and-alerts.md 11.1). */
export type HourCounters = { alerts: number; events: number; syscheck: number; firewall: number };

/** Counters of an hour that ended, for `stats/totals` (rules-and-alerts.md 11.1). */
export type HourReport = HourCounters & {
  /** Local day and hour, as `LocalClock.hourKey` names it. */
  readonly hourKey: string;
  /** The hour that begins, with the event that ended the other. */
  readonly nextHourKey: string;
  /** Rules that fired, in load order. */
  readonly fired: readonly { readonly rule: CompiledRule; readonly times: number }[];
};

/** What is counted over all agents, as plain data. */
export type CountingSnapshot = {
  /** Rule ids with how often they fired in this hour. */
  readonly firedTimes: readonly (readonly [number, number])[];
  readonly statistics: StatisticsSnapshot;
  readonly hour: HourCounters;
  readonly hourKey: string;
  /** Not in snapshots of earlier versions. */
  readonly hourSince?: number;
};

/** What of an event decides where it counts. */
export type CountedEvent = Pick<EngineEvent, 'receivedAt' | 'queue'>;

/**
 * What the engine counts on the way of an event, in this order: `begin`, `firewall`, `statistics`, `fired`; an event that goes
 * no further leaves out the rest. It belongs to all agents together, so that it is done in the order of the events. No
 * condition of a rule depends on it.
 */
export interface EventCounting {
  /** Every live event, first. @returns the hour that it ended, if any */
  begin(event: CountedEvent): HourReport | undefined;
  /** A live event of category firewall. */
  firewall(): void;
  /** A live event that was decoded. @returns the text of a statistics alert, when one is due (6.8) */
  statistics(): string | undefined;
  /** The rule that matched. @returns how often it has since the last hour change */
  fired(rule: CompiledRule): number;
}

/**
 * An event that was received up to so many seconds before the running hour began counts in it: senders give once more what nobody
 * acknowledged, and several of them are never quite in order. One that is older shows a clock that was set back.
 */
const LATE_SECONDS = 3600;

/** Fired counters of rules, hourly counters and statistics of one engine state (rules-and-alerts.md 11.1, 11.2). */
export class HourCounting implements EventCounting {
  readonly tables: Statistics;
  readonly hour: HourCounters = { alerts: 0, events: 0, syscheck: 0, firewall: 0 };
  /** Local hour of the last event; the hourly counters belong to it. */
  hourKey = '';
  readonly #ruleset: Ruleset;
  readonly #clock = new LocalClock();
  readonly #firedTimes: Uint32Array;
  /** When the first event of that hour was received, epoch seconds. */
  #hourSince = 0;
  /** The second by which the event at hand counts. */
  #counted = 0;

  constructor(ruleset: Ruleset, options: StatisticsOptions) {
    this.#ruleset = ruleset;
    this.tables = new Statistics(options);
    this.#firedTimes = new Uint32Array(ruleset.rules.length);
  }

  begin({ receivedAt, queue }: CountedEvent): HourReport | undefined {
    let ended: HourReport | undefined;
    const now = this.#countedAt(Math.floor(receivedAt / 1000));
    this.#counted = now;
    const hourKey = this.#clock.hourKey(now);
    if (hourKey !== this.hourKey) {
      if (this.hourKey !== '') {
        const fired = [...this.firedRules()].map(([rule, times]) => ({ rule, times }));
        ended = { ...this.hour, hourKey: this.hourKey, nextHourKey: hourKey, fired };
      }
      this.#startHour(hourKey, now);
    }
    this.hour.events += 1;
    if (queue === QUEUE_IDS.fileIntegrity) this.hour.syscheck += 1;
    return ended;
  }

  firewall(): void {
    this.hour.firewall += 1;
  }

  statistics(): string | undefined {
    const clock = this.#clock;
    const now = this.#counted;
    return this.tables.count(clock.dayKey(now), clock.hour(now), clock.weekday(now));
  }

  fired(rule: CompiledRule): number {
    this.hour.alerts += 1;
    const times = (this.#firedTimes[rule.ordinal] ?? 0) + 1;
    this.#firedTimes[rule.ordinal] = times;
    return times;
  }

  /** Fired counters that are not zero, in load order: what the hourly totals list. */
  *firedRules(): Iterable<readonly [CompiledRule, number]> {
    for (const rule of this.#ruleset.rules) {
      const times = this.#firedTimes[rule.ordinal] ?? 0;
      if (times > 0) yield [rule, times];
    }
  }

  snapshot(): CountingSnapshot {
    return {
      firedTimes: [...this.firedRules()].map(([rule, times]) => [rule.rule.id, times]),
      statistics: this.tables.snapshot(),
      hour: { ...this.hour },
      hourKey: this.hourKey,
      hourSince: this.#hourSince,
    };
  }

  /** Takes over a snapshot made with this or another ruleset; rules that are gone are left out. */
  restore(snapshot: CountingSnapshot): void {
    for (const [id, times] of snapshot.firedTimes) {
      const rule = this.#ruleset.byId.get(id);
      if (rule !== undefined) this.#firedTimes[rule.ordinal] = times;
    }
    this.tables.restore(snapshot.statistics);
    Object.assign(this.hour, snapshot.hour);
    this.hourKey = snapshot.hourKey;
    this.#hourSince = snapshot.hourSince ?? 0;
  }

  /** The second by which an event is counted: its own, or that in which the running hour began when it comes late. */
  #countedAt(second: number): number {
    const since = this.#hourSince;
    return second < since && second >= since - LATE_SECONDS ? since : second;
  }

  #startHour(hourKey: string, second: number): void {
    this.hourKey = hourKey;
    this.#hourSince = second;
    this.#firedTimes.fill(0);
    this.hour.alerts = this.hour.events = this.hour.syscheck = this.hour.firewall = 0;
  }
}
