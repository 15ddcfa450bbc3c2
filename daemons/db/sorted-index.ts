import type { SortKey } from './agent-fields.js';
import type { AgentRow } from './agent-record.js';

/** Dense ranks of a field: equal values have the same, `of[row.slot]`. */
export type Ranks = { readonly of: Int32Array; readonly count: number };

/** What an index needs of the set it belongs to. */
export type RowSource = {
  /** All rows in order of their ids. */
  readonly byId: () => readonly AgentRow[];
  /** Above every slot in use. */
  readonly slots: () => number;
  readonly has: (row: AgentRow) => boolean;
};

/** Above this share of changed rows an order is made anew. */
const REBUILD_SHARE = 4;

/**
 * All agents in order of one field. It is made when it is first needed; changes are only noted, and worked in when the
 * order is asked for again, so that a manager with a thousand keepalives a second pays for the pages that are looked at.
 */
export class SortedIndex {
  readonly #rows: RowSource;
  readonly #key: (row: AgentRow) => SortKey;
  readonly #changed = new Set<AgentRow>();
  #order: AgentRow[] | undefined;
  #ranks: Ranks | undefined;

  constructor(rows: RowSource, key: (row: AgentRow) => SortKey) {
    this.#rows = rows;
    this.#key = key;
  }

  /** Notes that a row came, went, or has another value. */
  touch(row: AgentRow): void {
    if (this.#order !== undefined) this.#changed.add(row);
  }

  /** Notes that any row may have another value. */
  reset(): void {
    this.#order = undefined;
    this.#ranks = undefined;
    this.#changed.clear();
  }

  /** Ascending, those without a value last, equal ones by id. Valid until the next change. */
  order(): readonly AgentRow[] {
    if (this.#order === undefined || this.#changed.size > this.#order.length / REBUILD_SHARE) {
      this.#order = sortedByKey(this.#rows.byId(), this.#key);
      this.#ranks = undefined;
    } else if (this.#changed.size > 0) {
      this.#order = this.#merged(this.#order);
      this.#ranks = undefined;
    }
    this.#changed.clear();
    return this.#order;
  }

  ranks(): Ranks {
    const order = this.order();
    if (this.#ranks === undefined) {
      const of = new Int32Array(this.#rows.slots());
      let count = 0;
      let last: SortKey;
      for (const row of order) {
        const key = this.#key(row);
        if (count === 0 || key !== last) count += 1;
        last = key;
        of[row.slot] = count - 1;
      }
      this.#ranks = { of, count };
    }
    return this.#ranks;
  }

  #merged(order: readonly AgentRow[]): AgentRow[] {
    const kept = order.filter((row) => !this.#changed.has(row));
    const coming = [...this.#changed].filter((row) => this.#rows.has(row)).sort((a, b) => a.id - b.id);
    const result: AgentRow[] = [];
    let from = 0;
    for (const row of sortedByKey(coming, this.#key)) {
      const place = this.#placeOf(row, kept, from);
      for (; from < place; from += 1) result.push(kept[from] as AgentRow);
      result.push(row);
    }
    for (; from < kept.length; from += 1) result.push(kept[from] as AgentRow);
    return result;
  }

  /** First index at or after `from` whose row comes behind `row`. */
  #placeOf(row: AgentRow, rows: readonly AgentRow[], from: number): number {
    const key = this.#key(row);
    let low = from;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = rows[middle] as AgentRow;
      const order = compareKeys(this.#key(other), key);
      if (order < 0 || (order === 0 && other.id < row.id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** @param rows by id; equal ones keep that order */
function sortedByKey(rows: readonly AgentRow[], key: (row: AgentRow) => SortKey): AgentRow[] {
  const numbers = new Float64Array(rows.length);
  for (let index = 0; index < rows.length; index += 1) {
    const value = key(rows[index] as AgentRow);
    if (typeof value === 'string') return sortedByText(rows, key);
    numbers[index] = value ?? NO_NUMBER;
  }
  return sortedByNumber(rows, numbers);
}

/** Above every number that is sorted by: those without one go last. */
const NO_NUMBER = Number.MAX_SAFE_INTEGER;
const DIGIT = 65_536;

/** Digit by digit from the last one, each time keeping the order of equal ones. @param numbers whole, not negative */
function sortedByNumber(rows: readonly AgentRow[], numbers: Float64Array): AgentRow[] {
  let order = Uint32Array.from(rows, (_row, index) => index);
  for (let unit = 1; unit <= NO_NUMBER; unit *= DIGIT) {
    const starts = new Uint32Array(DIGIT + 1);
    const digits = new Uint16Array(rows.length);
    for (let index = 0; index < digits.length; index += 1) {
      const digit = Math.floor((numbers[index] ?? 0) / unit) % DIGIT;
      digits[index] = digit;
      starts[digit + 1] = (starts[digit + 1] ?? 0) + 1;
    }
    for (let digit = 1; digit <= DIGIT; digit += 1) starts[digit] = (starts[digit] ?? 0) + (starts[digit - 1] ?? 0);
    const next = new Uint32Array(order.length);
    for (const index of order) {
      const digit = digits[index] ?? 0;
      const place = starts[digit] ?? 0;
      starts[digit] = place + 1;
      next[place] = index;
    }
    order = next;
  }
  return Array.from(order, (index) => rows[index] as AgentRow);
}

function sortedByText(rows: readonly AgentRow[], key: (row: AgentRow) => SortKey): AgentRow[] {
  const byKey = new Map<SortKey, AgentRow | AgentRow[]>();
  for (const row of rows) {
    const value = key(row);
    const known = byKey.get(value);
    if (known === undefined) byKey.set(value, row);
    else if (Array.isArray(known)) known.push(row);
    else byKey.set(value, [known, row]);
  }
  const result: AgentRow[] = [];
  for (const value of [...byKey.keys()].sort(compareKeys)) {
    const found = byKey.get(value);
    if (found === undefined) continue;
    if (Array.isArray(found)) for (const row of found) result.push(row);
    else result.push(found);
  }
  return result;
}

function compareKeys(left: SortKey, right: SortKey): number {
  if (left === right) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  return left < right ? -1 : 1;
}

/** Rows in order of their ranks; equal ones keep their places. A counting sort: its time grows with the rows alone. */
export function stableByRank(rows: readonly AgentRow[], ranks: Ranks, descending: boolean): AgentRow[] {
  const { of, count } = ranks;
  const starts = new Uint32Array(count + 1);
  const rankOf = new Uint32Array(rows.length);
  for (let index = 0; index < rows.length; index += 1) {
    const rank = of[(rows[index] as AgentRow).slot] ?? 0;
    const place = descending ? count - 1 - rank : rank;
    rankOf[index] = place;
    starts[place + 1] = (starts[place + 1] ?? 0) + 1;
  }
  for (let index = 1; index <= count; index += 1) starts[index] = (starts[index] ?? 0) + (starts[index - 1] ?? 0);
  const result = new Array<AgentRow>(rows.length);
  for (let index = 0; index < rankOf.length; index += 1) {
    const rank = rankOf[index] ?? 0;
    const place = starts[rank] ?? 0;
    starts[rank] = place + 1;
    result[place] = rows[index] as AgentRow;
  }
  return result;
}
