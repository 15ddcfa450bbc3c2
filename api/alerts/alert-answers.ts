import type { CallResult } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import { type ApiResult, type FailedItem, type ListMessages, listResult, type ShownFailure } from '../http/envelope.js';

export const ALERT_MESSAGES: ListMessages = {
  all: 'All selected alerts were returned',
  some: 'Some selected alerts were returned',
  none: 'No alert was returned',
};

/** Bytes of alerts.json that the store may be behind before it is said: what svc-analysisd writes in some moments. */
const MAX_BEHIND_BYTES = 16 * 1024 * 1024;

/** Numbers of alerts, of a node or of several. */
export type AlertTotal = { readonly count: number; readonly exact: boolean };

/** Whether alerts are missing in an answer of this node because they cannot be searched yet: one that says so, named for the node. */
export async function notSearchableYet(db: DbClient, request: ApiRequest, node: string): Promise<FailedItem[]> {
  const { behind, rebuilding } = await db.call(request, 'alerts.stats', {});
  if (rebuilding === 0 && behind <= MAX_BEHIND_BYTES) return [];
  return [{ id: request.nodeName(node), error: new ApiError(8002) }];
}

export type AlertPage = {
  readonly items: readonly unknown[];
  readonly total: AlertTotal;
  /** Cursor of the next page; null when there is none. */
  readonly next: string | null;
  readonly failed: readonly ShownFailure[];
  /** Time and place of each, where pages of nodes are merged. */
  readonly keys?: readonly (readonly [time: number, place: string])[];
};

export function pageResult({ items, total, next, failed, keys }: AlertPage): ApiResult {
  const more = { total_is_exact: total.exact, next_cursor: next };
  const merged = keys === undefined ? {} : { keys };
  return listResult({ items, total: total.count, failed, messages: ALERT_MESSAGES, more, ...merged });
}

export type AlertHistogram = Pick<
  CallResult<typeof dbContract, 'alerts.histogram'>,
  'interval' | 'buckets' | 'total'
> & {
  readonly from: number;
  readonly to: number;
  readonly failed: readonly ShownFailure[];
};

/** Times are shown in ISO 8601, the interval in seconds. */
export function histogramResult({ interval, buckets, total, from, to, failed }: AlertHistogram): ApiResult {
  const iso = (time: number): string => new Date(time).toISOString();
  const items = buckets.map(({ time, count, by }) => ({ time: iso(time), count, ...(by === undefined ? {} : { by }) }));
  const more = {
    ...{ interval: interval / 1000, from: iso(from), to: iso(to) },
    ...{ total_alerts: total.count, total_is_exact: total.exact },
  };
  return listResult({ items, total: items.length, failed, messages: ALERT_MESSAGES, more });
}

/** A bucket, and a value with its number, as they are shown. */
export type AlertValueItem = { readonly value: string | number | boolean; readonly count: number };
export type AlertBucketItem = {
  readonly time: string;
  readonly count: number;
  readonly by?: readonly AlertValueItem[];
};

/** The buckets of several nodes, which all have the same times. */
export function sumBuckets(nodes: readonly (readonly AlertBucketItem[])[]): readonly AlertBucketItem[] {
  return (nodes[0] ?? []).map(({ time, by }, index) => ({
    time,
    count: nodes.reduce((sum, buckets) => sum + (buckets[index]?.count ?? 0), 0),
    ...(by === undefined ? {} : { by: sumValues(nodes.map((buckets) => buckets[index]?.by ?? [])) }),
  }));
}

/** Values of several nodes, most first. */
export function sumValues(nodes: readonly (readonly AlertValueItem[])[]): readonly AlertValueItem[] {
  const counts = new Map<AlertValueItem['value'], number>();
  for (const { value, count } of nodes.flat()) counts.set(value, (counts.get(value) ?? 0) + count);
  return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
}

export type AlertTop = CallResult<typeof dbContract, 'alerts.top'> & { readonly failed: readonly ShownFailure[] };

export function topResult({ values, total, missing, failed }: AlertTop): ApiResult {
  const more = { total_alerts: total.count, total_is_exact: total.exact, alerts_without_field: missing };
  return listResult({ items: values, total: values.length, failed, messages: ALERT_MESSAGES, more });
}
