import { setImmediate as nextTurn } from 'node:timers/promises';
import { BusError } from '../../../lib/bus/bus-error.js';
import { compareKeys, type SortKey } from '../../../lib/query/row-keys.js';
import { cutPage, MAX_PAGE_BYTES } from './cut-page.js';
import { ROWS_PER_TURN } from './row-limits.js';
import { TopEntries } from './top-entries.js';

/** Different rows of `distinct` that are kept in memory at once. */
const MAX_DISTINCT = 500_000;
/** Characters of them: command lines of processes have up to 64 thousand. */
const MAX_DISTINCT_CHARACTERS = 64 * 1024 * 1024;
/** Places of a sorted list up to which a page may lie: what is in front of it is kept in memory while it is sorted. */
const MAX_SORTED = 1_000_000;
/** What an item weighs beside its values. */
export const ITEM_BYTES = 400;

export type RowPage = { readonly items: Record<string, unknown>[]; readonly total: number };

/** The way of a row into a page: what it is sorted by, and its place among those that were visited. */
export type SortedRef = { readonly order: number; readonly keys: readonly SortKey[] };

/** A page of rows of the store. @typeParam C a row as it is looked at @typeParam R where it is found again */
export type RowList<C, R> = {
  readonly offset: number;
  readonly limit: number;
  readonly sortKeys: readonly ((candidate: C) => SortKey)[];
  readonly descending: boolean;
  readonly test: (candidate: C) => boolean;
  /** Calls for each row that may be meant. */
  readonly visit: (each: (candidate: C, ref: R) => void) => Promise<void>;
  /** The row again; undefined: it was deleted meanwhile. */
  readonly read: (ref: R) => C | undefined;
  /** Bytes of a row as it is stored. */
  readonly bytes: (candidate: C) => number;
  readonly item: (candidate: C) => Record<string, unknown>;
};

/**
 * A page of rows in order; it is cut where an answer would become too large.
 * @throws BusError `too_many` for a page that lies too far behind in a sorted list
 */
export function listRows<C, R>(list: RowList<C, R>): Promise<RowPage> {
  return list.sortKeys.length === 0 ? listAsVisited(list) : listSorted(list);
}

/** Rows are in their places as they come: those of the page are made items at once, of the others none is kept. */
async function listAsVisited<C, R>({ offset, limit, test, visit, bytes, item }: RowList<C, R>): Promise<RowPage> {
  const items: Record<string, unknown>[] = [];
  let total = 0;
  let weight = 0;
  await visit((candidate) => {
    if (!test(candidate)) return;
    const order = total;
    total += 1;
    if (order < offset || order >= offset + limit || weight > MAX_PAGE_BYTES) return;
    weight += ITEM_BYTES + bytes(candidate) * 2;
    if (weight <= MAX_PAGE_BYTES || items.length === 0) items.push(item(candidate));
  });
  return { items, total };
}

async function listSorted<C, R>(list: RowList<C, R>): Promise<RowPage> {
  const { offset, limit, sortKeys, test, visit, read, bytes, item } = list;
  const top = new TopEntries<SortedRef & { readonly ref: R }>(offset + limit, compareRefs(list.descending));
  let total = 0;
  await visit((candidate, ref) => {
    if (!test(candidate)) return;
    const order = total;
    total += 1;
    if (offset + limit > MAX_SORTED && total > MAX_SORTED) throw tooFar();
    top.add({ ref, order, keys: sortKeys.map((key) => key(candidate)) });
  });
  const items: Record<string, unknown>[] = [];
  let weight = 0;
  for (const { ref } of (await top.finish()).slice(offset)) {
    const candidate = read(ref);
    if (candidate === undefined) continue;
    weight += ITEM_BYTES + bytes(candidate) * 2;
    if (weight > MAX_PAGE_BYTES && items.length > 0) break;
    items.push(item(candidate));
    if (items.length % ROWS_PER_TURN === 0) await nextTurn();
  }
  return { items, total };
}

/**
 * Different rows of the selected fields; those in which one is missing are left out (rest-api.md 4.1).
 * @param values of the fields
 * @throws BusError `too_many`
 */
export async function listDistinctRows<C, R>(
  { offset, limit, sortKeys, descending, test, visit, item }: Omit<RowList<C, R>, 'read' | 'bytes'>,
  values: readonly ((candidate: C) => unknown)[],
): Promise<RowPage> {
  type Found = { readonly item: Record<string, unknown>; readonly ref: SortedRef };
  const found = new Map<string, Found>();
  let characters = 0;
  await visit((candidate) => {
    if (!test(candidate)) return;
    const row = values.map((read) => read(candidate));
    if (row.some((value) => value === undefined || value === '')) return;
    const name = JSON.stringify(row);
    if (found.has(name)) return;
    if (found.size >= MAX_DISTINCT) {
      throw new BusError('too_many', `There are more than ${String(MAX_DISTINCT)} different rows: narrow the search`);
    }
    characters += name.length;
    if (characters > MAX_DISTINCT_CHARACTERS) {
      throw new BusError('too_many', 'There is too much in different rows: narrow the search');
    }
    const keys = sortKeys.map((key) => key(candidate));
    found.set(name, { item: item(candidate), ref: { order: found.size, keys } });
  });
  const compare = compareRefs(descending);
  const top = new TopEntries<Found>(offset + limit, (one, other) => compare(one.ref, other.ref));
  let added = 0;
  for (const row of found.values()) {
    top.add(row);
    added += 1;
    if (added % ROWS_PER_TURN === 0) await nextTurn();
  }
  const items = (await top.finish()).slice(offset).map((row) => row.item);
  return { items: cutPage(items), total: found.size };
}

function tooFar(): BusError {
  return new BusError(
    'too_many',
    `Pages of a sorted list of more than ${String(MAX_SORTED)} rows must lie in front of that row: narrow the search`,
  );
}

/** Missing values last when ascending and first when descending; equal ones by their places. */
export function compareRefs(descending: boolean): (one: SortedRef, other: SortedRef) => number {
  const sign = descending ? -1 : 1;
  return (one, other) => {
    for (let index = 0; index < one.keys.length; index += 1) {
      const order = compareKeys(one.keys[index], other.keys[index]);
      if (order !== 0) return sign * order;
    }
    return one.order - other.order;
  };
}
