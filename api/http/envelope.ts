import type { RowKey } from '../../lib/query/row-keys.js';
import type { ApiError } from './api-error.js';
import type { StreamBody } from './event-stream.js';
import { jsonLine } from './json-text.js';
import type { KeptBytes } from './kept-bytes.js';

/** What a handler answers: JSON in one of the three shapes of rest-api.md 3.1, the bare content of a file, or events that go on. */
export type ApiResult =
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly body: object;
      /** The body on one line, where there is a quicker way to write it. */
      readonly line?: () => Buffer;
      /** Of a list, what the body was made of: those of several nodes are put together. */
      readonly list?: ListResult;
    }
  | {
      readonly kind: 'raw';
      readonly status: number;
      readonly contentType: string;
      readonly body: string | Buffer;
      /** Tells this body from any other, quotes included; undefined where nothing is kept (rest-api.md 1.4). */
      readonly etag?: string;
    }
  | ({ readonly kind: 'stream' } & StreamBody);

/** An answer that is there as a whole. */
export type WholeResult = Exclude<ApiResult, { readonly kind: 'stream' }>;

/** Message of a list when all, some or no items succeeded (rest-api.md 3.2). */
export type ListMessages = { readonly all: string; readonly some: string; readonly none: string };

export type FailedItem = { readonly id: string | number; readonly error: ApiError };

/** What a client sees of a failed item, whichever node of a cluster it failed on. */
export type ShownFailure = {
  readonly id: string | number;
  readonly error: { readonly code: number; readonly message: string; readonly remediation?: string | undefined };
};

export type ListResult = {
  readonly items: readonly unknown[];
  /** All matches before offset and limit. */
  readonly total: number;
  readonly failed?: readonly ShownFailure[];
  readonly messages: ListMessages;
  readonly status?: number;
  /** Members of `data` besides those of all lists. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** By item, where a page is to be merged with those of other nodes. */
  readonly keys?: readonly RowKey[] | undefined;
  /** Rows of each key, where it is not one. */
  readonly counts?: readonly number[] | undefined;
  /** For items that never change, what was kept of them: a page is then put together, not written anew. */
  readonly kept?: KeptBytes;
};

/** Shape 1: a list (rest-api.md 3.1, 3.2). */
export function listResult(result: ListResult): WholeResult {
  const failed = result.failed ?? [];
  const failedItems = groupFailures(failed);
  const failedCount = failedItems.reduce((count, item) => count + item.id.length, 0);
  const some = result.total > 0 && failedCount > 0;
  const message = some ? result.messages.some : result.total > 0 ? result.messages.all : result.messages.none;
  const body = {
    data: {
      affected_items: result.items,
      total_affected_items: result.total,
      total_failed_items: failedCount,
      failed_items: failedItems,
      ...result.more,
    },
    message,
    error: some ? 2 : failedCount > 0 ? 1 : 0,
  };
  const { kept, status } = result;
  const answer = { ...json(body, status), list: result };
  return kept === undefined ? answer : { ...answer, line: () => listLine(body, kept) };
}

const SEPARATOR = Buffer.from(', ');

/** What `jsonLine` writes of a list, made of what is kept of its items. */
function listLine(body: { readonly data: { readonly affected_items: readonly unknown[] } }, kept: KeptBytes): Buffer {
  const { affected_items: items, ...others } = body.data;
  const empty = jsonLine({ ...body, data: { affected_items: [], ...others } });
  const start = empty.indexOf('[') + 1;
  const pieces = items.flatMap((item, index) => (index === 0 ? [kept.of(item)] : [SEPARATOR, kept.of(item)]));
  return Buffer.concat([empty.subarray(0, start), ...pieces, empty.subarray(start)]);
}

/** Shape 2: data without a list (rest-api.md 3.1). */
export function dataResult(data: unknown, message?: string): WholeResult {
  return json(message === undefined ? { data, error: 0 } : { data, message, error: 0 });
}

/** Shape 3: a message only (rest-api.md 3.1). */
export function messageResult(message: string): WholeResult {
  return json({ message, error: 0 });
}

/** The content of a file, or a bare token. */
export function rawResult(contentType: string, body: string | Buffer): WholeResult {
  return { kind: 'raw', status: 200, contentType, body };
}

function json(body: object, status = 200) {
  return { kind: 'json', status, body } as const;
}

type FailedGroup = {
  error: { code: number; message: string; remediation?: string };
  id: (string | number)[];
};

/** One entry per distinct error, ids sorted and without duplicates, entries sorted by code (rest-api.md 3.3). */
function groupFailures(failed: readonly ShownFailure[]): FailedGroup[] {
  const groups = new Map<string, FailedGroup>();
  for (const { id, error } of failed) {
    const { code, message, remediation } = error;
    const key = JSON.stringify([code, message, remediation]);
    let group = groups.get(key);
    if (group === undefined) {
      group = { error: { code, message, ...(remediation === undefined ? {} : { remediation }) }, id: [] };
      groups.set(key, group);
    }
    group.id.push(id);
  }
  for (const group of groups.values()) group.id = sortIds([...new Set(group.id)]);
  return [...groups.values()].sort((a, b) => a.error.code - b.error.code);
}

function sortIds(ids: (string | number)[]): (string | number)[] {
  const numeric = ids.every((id) => typeof id === 'number' || /^\d+$/.test(id));
  return ids.sort((a, b) => {
    if (numeric) return Number(a) - Number(b);
    const [left, right] = [String(a), String(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  });
}
