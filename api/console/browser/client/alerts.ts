import type { List } from './api-client.js';
import type { FailedItem } from './failure.js';
import { SEVERITIES, type Severity, severityOf } from './severity.js';
import { readIso } from './time-span.js';

/** An alert as in alerts.json (rules-and-alerts.md), as far as the console looks into it. */
export type Alert = {
  readonly alert_id: string;
  readonly timestamp?: string;
  readonly rule?: {
    readonly id?: string;
    readonly level?: number;
    readonly description?: string;
    readonly groups?: readonly string[];
    readonly mitre?: {
      readonly id?: readonly string[];
      readonly tactic?: readonly string[];
      readonly technique?: readonly string[];
    };
  };
  readonly agent?: { readonly id?: string; readonly name?: string; readonly ip?: string };
  readonly decoder?: { readonly name?: string; readonly parent?: string };
  readonly data?: Readonly<Record<string, unknown>>;
  readonly full_log?: string;
  readonly location?: string;
};

export type AlertList = List<Alert> & { readonly total_is_exact: boolean; readonly next_cursor: string | null };

export type ValueCount = { readonly value: string | number | boolean; readonly count: number };

export type AlertTop = List<ValueCount> & {
  readonly total_alerts: number;
  readonly total_is_exact: boolean;
  readonly alerts_without_field: number;
};

export type AlertBucket = { readonly time: string; readonly count: number; readonly by?: readonly ValueCount[] };

export type AlertHistogram = List<AlertBucket> & {
  /** Seconds of a bucket. */
  readonly interval: number;
  readonly total_alerts: number;
  readonly total_is_exact: boolean;
};

/** Alerts over time by how bad they are; times are seconds since the epoch. */
export type LevelsOverTime = {
  readonly times: readonly number[];
  readonly counts: Readonly<Record<Severity, readonly number[]>>;
};

/** Takes the levels of a histogram by `rule.level` together. An alert without a level counts among the low ones. */
export function levelsOverTime(buckets: readonly AlertBucket[]): LevelsOverTime {
  const counts: Record<Severity, number[]> = { critical: [], high: [], medium: [], low: [] };
  for (const { count, by = [] } of buckets) {
    const sums: Record<Severity, number> = { critical: 0, high: 0, medium: 0, low: count };
    for (const { value, count: some } of by) {
      const severity = severityOf(Number(value));
      if (severity === 'low') continue;
      sums[severity] += some;
      sums.low -= some;
    }
    for (const severity of SEVERITIES) counts[severity].push(Math.max(0, sums[severity]));
  }
  return { times: buckets.map(({ time }) => (readIso(time) ?? 0) / 1000), counts };
}

/** One value of an alert, with the path by which it can be asked for. */
export type AlertFact = { readonly path: string; readonly value: string | number | boolean };

/** Every value of an alert, members of lists one by one, in the order in which they are written. */
export function factsOf(alert: object): AlertFact[] {
  const facts: AlertFact[] = [];
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value)) {
      for (const member of value) walk(member, path);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) walk(member, path === '' ? name : `${path}.${name}`);
    } else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      facts.push({ path, value });
    }
  };
  walk(alert, '');
  return facts;
}

/** Who did not answer for all that was asked, one sentence each: nodes of a cluster, agents that may not be seen. */
export function missingOf(failed: readonly FailedItem[]): string[] {
  return failed.map(({ id, error }) => `${id.join(', ')}: ${error.message}`);
}
