import { compareRowKeys, type RowKey } from '../../lib/query/row-keys.js';

/** A page of the rows of one node: what each is sorted by, and the items unless keys alone were asked for. */
export type RowsPage = {
  readonly items: readonly unknown[];
  /** Rows on all pages. */
  readonly total: number;
  readonly keys: readonly RowKey[];
  /** Rows of each key, where it is not one. */
  readonly counts?: readonly number[] | undefined;
};

/** The rows of one node, in their order. */
export interface RowSource {
  /** Rows from a place on, perhaps fewer than asked for; undefined when the node does not answer any more. */
  page(from: number, limit: number, rows: 'whole' | 'keys'): Promise<RowsPage | undefined>;
}

export type MergeOptions = { readonly offset: number; readonly limit: number; readonly descending: boolean };

/** Rows in front of a page that are simply fetched with it: of more the keys alone are looked at first. */
const SKIPPED_WHOLE = 1000;
/** Pages up to here are asked of each node whole, since all of it may be there; of larger ones each gives its share, and some more. */
const FETCHED_WHOLE = 2000;
const SHARE_AND_MORE = 1.3;
/** Keys that are asked for at once. */
const KEYS_AT_ONCE = 50_000;

/**
 * A page of the rows of several nodes, as if they were all on one. Nothing is fetched whole but the page itself, about, and what
 * stands in front of a page near the beginning; what is in front of others is passed over by its keys.
 */
export async function mergeRows(
  sources: readonly RowSource[],
  { offset, limit, descending }: MergeOptions,
): Promise<{ readonly items: unknown[]; readonly total: number }> {
  const compare = compareRowKeys(descending);
  const starts = offset > SKIPPED_WHOLE ? await passOver(sources, offset, compare) : sources.map(() => 0);
  const passed = starts.reduce((sum, start) => sum + start, 0);
  // A page behind all rows is empty: each node is asked for one row, to hear how many it has.
  const isBehind = offset > SKIPPED_WHOLE && passed < offset;
  let skip = offset - passed;
  const wanted = isBehind ? 1 : skip + limit;
  const first = wanted <= FETCHED_WHOLE ? wanted : Math.ceil((wanted * SHARE_AND_MORE) / sources.length);
  const cursors = sources.map((source, index) => new RowCursor(source, starts[index] ?? 0, 'whole'));
  const items: unknown[] = [];
  let size = first;
  for (;;) {
    if (cursors.some(({ isEmpty }) => isEmpty)) {
      const most = size;
      await Promise.all(cursors.map((cursor) => cursor.fill(most)));
      size = Math.max(SKIPPED_WHOLE, Math.ceil((wanted - items.length) / sources.length));
    }
    const next = items.length < limit && !isBehind ? firstOf(cursors, compare) : undefined;
    if (next === undefined) break;
    if (skip > 0) skip -= 1;
    else items.push(next.item);
    next.pass(1);
  }
  return { items, total: cursors.reduce((sum, { total }) => sum + total, 0) };
}

/** How many rows of each source are among the first `count` of all. */
async function passOver(
  sources: readonly RowSource[],
  count: number,
  compare: (one: RowKey, other: RowKey) => number,
): Promise<number[]> {
  const cursors = sources.map((source) => new RowCursor(source, 0, 'keys'));
  let left = count;
  while (left > 0) {
    if (cursors.some(({ isEmpty }) => isEmpty)) {
      const most = Math.min(left, KEYS_AT_ONCE);
      await Promise.all(cursors.map((cursor) => cursor.fill(most)));
    }
    const next = firstOf(cursors, compare);
    if (next === undefined) break;
    const rows = Math.min(next.rows, left);
    next.pass(rows);
    left -= rows;
  }
  return cursors.map(({ at }) => at);
}

/** The one whose next row comes first; undefined when there are no more. */
function firstOf(
  cursors: readonly RowCursor[],
  compare: (one: RowKey, other: RowKey) => number,
): RowCursor | undefined {
  let first: RowCursor | undefined;
  for (const cursor of cursors) {
    if (cursor.key === undefined) continue;
    if (first?.key === undefined || compare(cursor.key, first.key) < 0) first = cursor;
  }
  return first;
}

/** A place in the rows of a source, with those that were fetched from there on. */
class RowCursor {
  /** Rows that were passed. */
  at: number;
  /** Rows of the source, as far as it has answered. */
  total = 0;
  #page: RowsPage | undefined;
  /** Place in the page, and rows of its key that were passed. */
  #index = 0;
  #ofKey = 0;
  #ended = false;

  constructor(
    private readonly source: RowSource,
    start: number,
    private readonly kind: 'whole' | 'keys',
  ) {
    this.at = start;
  }

  /** Whether it has to be filled before it is known what comes next. */
  get isEmpty(): boolean {
    return !this.#ended && this.key === undefined;
  }

  get key(): RowKey | undefined {
    return this.#page?.keys[this.#index];
  }

  get item(): unknown {
    return this.#page?.items[this.#index];
  }

  /** Rows of the next key that are still to be passed. */
  get rows(): number {
    return (this.#page?.counts?.[this.#index] ?? 1) - this.#ofKey;
  }

  async fill(limit: number): Promise<void> {
    if (!this.isEmpty) return;
    const page = await this.source.page(this.at, limit, this.kind);
    this.#page = page;
    this.#index = 0;
    this.#ofKey = 0;
    if (page !== undefined) this.total = page.total;
    this.#ended = page === undefined || page.keys.length === 0;
  }

  pass(rows: number): void {
    this.at += rows;
    this.#ofKey += rows;
    if (this.rows > 0) return;
    this.#index += 1;
    this.#ofKey = 0;
    // Counts are of all rows there are.
    if (this.key === undefined && (this.at >= this.total || this.#page?.counts !== undefined)) this.#ended = true;
  }
}
