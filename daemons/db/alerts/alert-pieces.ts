import type { StoredAlert } from '../../../lib/bus/contracts/db-alerts.js';
import type { CallInput, CallOutput } from '../../../lib/thread/thread-contract.js';
import type { PlainValue } from './alert-fields.js';
import type { AlertPlace } from './alert-place.js';
import type { AlertThread, SearchOrderCall, ThreadQuestion } from './alert-thread-contract.js';
import type { Counting } from './count-alerts.js';

/** Asks the thread of the store. */
export type AskThread = <K extends keyof AlertThread['calls'] & string>(
  call: K,
  input: CallInput<AlertThread, K>,
) => Promise<CallOutput<AlertThread, K>>;

/** Different values that are counted; with more of them those with fewest alerts are dropped, and numbers are no more exact. */
const MAX_VALUES = 200_000;
/** Characters of all of them, and of one: a longer value is not counted. */
const MAX_CHARACTERS = 4 * 1024 ** 2;
const MAX_VALUE_LENGTH = 1024;

/** Alerts that were found within the time. */
export type FoundAlerts = {
  readonly alerts: readonly StoredAlert[];
  readonly next: AlertPlace | undefined;
  readonly isDone: boolean;
};

/** Has the thread search piece by piece. @param until of `performance.now()` */
export async function searchPieces(ask: AskThread, call: SearchOrderCall, until: number): Promise<FoundAlerts> {
  const alerts: StoredAlert[] = [];
  let bytes = 0;
  let next = call.cursor;
  for (;;) {
    const [limit, room] = [call.limit - alerts.length, call.bytes - bytes];
    const piece = await ask('search', { ...call, cursor: next, limit, bytes: Math.max(0, room) });
    // One alert always fits into a piece, and perhaps no more into the answer.
    const [first] = piece.alerts;
    if (alerts.length > 0 && first !== undefined && first.text.length > room) return { alerts, next, isDone: false };
    alerts.push(...piece.alerts);
    for (const { text } of piece.alerts) bytes += text.length;
    ({ next } = piece);
    const isFull = alerts.length >= call.limit || bytes >= call.bytes;
    if (piece.isDone || isFull || performance.now() >= until) return { alerts, next, isDone: piece.isDone };
  }
}

/** Numbers of alerts; they are not exact when time or memory was not enough. */
export type CountedAlerts = {
  readonly total: number;
  readonly isExact: boolean;
  readonly buckets: Float64Array;
  readonly values: ReadonlyMap<PlainValue, number>;
  readonly missing: number;
  readonly series: readonly Float64Array[];
};

/** Has the thread count piece by piece. @param until of `performance.now()` */
export async function countPieces(
  ask: AskThread,
  question: ThreadQuestion,
  counting: Counting,
  until: number,
): Promise<CountedAlerts> {
  let [total, missing, isExact] = [0, 0, true];
  let values = new Map<PlainValue, number>();
  let characters = 0;
  const buckets = new Float64Array(counting.buckets?.count ?? 0);
  const series = (counting.series ?? []).map(() => new Float64Array(buckets.length));
  for (let cursor: AlertPlace | undefined; ;) {
    const { counts, next } = await ask('count', { ...question, counting, cursor });
    total += counts.total;
    missing += counts.missing;
    addAll(buckets, counts.buckets);
    for (const [index, each] of series.entries()) addAll(each, counts.series[index] ?? new Float64Array(0));
    for (const [value, count] of counts.values) {
      const known = values.get(value);
      if (known === undefined) {
        const { length } = String(value);
        // Whoever writes a log chooses it.
        if (length > MAX_VALUE_LENGTH) {
          isExact = false;
          continue;
        }
        characters += length;
      }
      values.set(value, (known ?? 0) + count);
    }
    while (values.size > MAX_VALUES || characters > MAX_CHARACTERS) {
      values = new Map(commonest(values, Math.floor(values.size / 2)));
      characters = 0;
      for (const value of values.keys()) characters += String(value).length;
      isExact = false;
    }
    cursor = next;
    if (next === undefined) break;
    if (performance.now() < until) continue;
    isExact = false;
    break;
  }
  return { total, isExact, buckets, values, missing, series };
}

/** Values with most alerts; of equal ones those that come first in their order. */
export function commonest(values: ReadonlyMap<PlainValue, number>, most: number): [PlainValue, number][] {
  const entries = [...values].sort(([one, a], [other, b]) => b - a || (String(one) < String(other) ? -1 : 1));
  return entries.slice(0, most);
}

function addAll(sums: Float64Array, more: Float64Array): void {
  for (let index = 0; index < sums.length; index += 1) sums[index] = (sums[index] ?? 0) + (more[index] ?? 0);
}
