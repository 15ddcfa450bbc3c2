import { compareKeys } from './byte-order.js';
import { RangeHash } from './range-hash.js';

/** A row as the synchronisation sees it. */
export type SyncRow = { readonly key: string; readonly checksum: string };

/** Rows in the byte order of their keys (`compareKeys`). They may change between two calls, never during one. */
export interface RangeSource<Row extends SyncRow> {
  first(): Row | undefined;
  last(): Row | undefined;
  /** Rows with `begin <= key <= end`, ascending. */
  range(begin: string, end: string): Iterable<Row>;
}

/** A check of a range, as `integrity_check_*` carries it. */
export type RangeCheck = {
  readonly begin: string;
  readonly end: string;
  readonly checksum: string;
  readonly id: number;
};

/** What the agent says to the manager. */
export type SyncStep<Row> =
  | { readonly type: 'integrity_clear'; readonly id: number }
  | { readonly type: 'integrity_check_global' | 'integrity_check_right'; readonly check: RangeCheck }
  | { readonly type: 'integrity_check_left'; readonly check: RangeCheck & { readonly tail: string } }
  | { readonly type: 'state'; readonly row: Row };

/** What the manager answers (integrity-and-inventory.md 4.4). */
export type SyncAnswer = {
  readonly verb: 'checksum_fail' | 'no_data';
  readonly begin: string;
  readonly end: string;
  readonly id: number;
};

/**
 * The agent's side of the range synchronisation of one table (integrity-and-inventory.md 5.1), without clock and wire:
 * what it has to say comes out, what the manager answers goes in.
 */
export class RangeSync<Row extends SyncRow> {
  readonly #source: RangeSource<Row>;
  #currentId = 0;

  constructor(source: RangeSource<Row>) {
    this.#source = source;
  }

  /** Round under way; 0 before the first. */
  get currentId(): number {
    return this.#currentId;
  }

  /** Begins a round. @param now epoch seconds */
  start(now: number): SyncStep<Row> {
    const first = this.#source.first();
    const last = this.#source.last();
    this.#currentId = now;
    if (first === undefined || last === undefined) return { type: 'integrity_clear', id: now };
    const hash = new RangeHash();
    for (const { checksum } of this.#source.range(first.key, last.key)) hash.add(checksum);
    const check = { begin: first.key, end: last.key, checksum: hash.digest(), id: now };
    return { type: 'integrity_check_global', check };
  }

  /**
   * What follows on an answer, none for one of a later round than this. States come one by one as they are asked for,
   * so that a table of any size can be sent at the pace of the line; the source must not change in between.
   */
  *answer({ verb, begin, end, id }: SyncAnswer): Generator<SyncStep<Row>, void, undefined> {
    if (id > this.#currentId) return;
    this.#currentId = id;
    // Rows move between two messages: what no longer makes sense is left to the next round (15.10).
    if (compareKeys(begin, end) > 0) return;
    if (verb === 'no_data') {
      for (const row of this.#source.range(begin, end)) yield { type: 'state', row };
      return;
    }
    const rows = this.#count(begin, end);
    if (rows > 1) {
      yield* this.#halves(begin, end, id, Math.floor(rows / 2));
    } else if (begin === end) {
      for (const row of this.#source.range(begin, end)) yield { type: 'state', row };
    }
  }

  #count(begin: string, end: string): number {
    let rows = 0;
    for (const _row of this.#source.range(begin, end)) rows += 1;
    return rows;
  }

  #halves(begin: string, end: string, id: number, leftRows: number): SyncStep<Row>[] {
    const left = new RangeHash();
    const right = new RangeHash();
    let leftEnd = begin;
    let tail = end;
    for (const { key, checksum } of this.#source.range(begin, end)) {
      if (left.rows < leftRows) {
        left.add(checksum);
        leftEnd = key;
      } else {
        if (right.rows === 0) tail = key;
        right.add(checksum);
      }
    }
    return [
      { type: 'integrity_check_left', check: { begin, end: leftEnd, checksum: left.digest(), id, tail } },
      { type: 'integrity_check_right', check: { begin: tail, end, checksum: right.digest(), id } },
    ];
  }
}
