import { setImmediate as turn } from 'node:timers/promises';
import { RangeHash } from '../events/sync/range-hash.js';
import type { RangeCheck, SyncAnswer, SyncRow, SyncStep } from '../events/sync/sync-step.js';
import { compareKeys } from '../fim/byte-order.js';

/** Rows in the byte order of their keys (`compareKeys`). They may change between two calls, never during one. */
export interface RangeSource<Row extends SyncRow> {
  first(): Row | undefined;
  last(): Row | undefined;
  /**
   * Rows with `begin <= key <= end`, ascending. They are read as they are asked for: of a large range a few hundred are
   * taken in one go, and the rest is asked for anew.
   */
  range(begin: string, end: string): Iterable<Row>;
}

/** Rows that are looked at in one turn of the event loop: a few milliseconds of a table on disk. */
const ROWS_A_TURN = 512;

/**
 * The agent's side of the range synchronisation of one table (integrity-and-inventory.md 5.1), without clock and wire:
 * what it has to say comes out, what the manager answers goes in, one after the other. A table of any size is walked in
 * pieces, between which others have their turn and rows may change: a checksum of half old and half new rows is found
 * wrong by the manager, and the next round repairs it.
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

  /**
   * Begins a round.
   * @param now epoch seconds
   * @param signal ends the walk: nothing is read any more @throws its reason
   */
  async start(now: number, signal?: AbortSignal): Promise<SyncStep<Row>> {
    const first = this.#source.first();
    const last = this.#source.last();
    this.#currentId = now;
    if (first === undefined || last === undefined) return { type: 'integrity_clear', id: now };
    const hash = new RangeHash();
    for await (const rows of this.#pieces(first.key, last.key, signal)) {
      for (const { checksum } of rows) hash.add(checksum);
    }
    const check = { begin: first.key, end: last.key, checksum: hash.digest(), id: now };
    return { type: 'integrity_check_global', check };
  }

  /**
   * What follows on an answer, none for one of a later round than this. States come one by one as they are asked for,
   * so that a table of any size can be sent at the pace of the line.
   * @param signal ends the walk: nothing is read any more @throws its reason
   */
  async *answer(
    { verb, begin, end, id }: SyncAnswer,
    signal?: AbortSignal,
  ): AsyncGenerator<SyncStep<Row>, void, undefined> {
    if (id > this.#currentId) return;
    this.#currentId = id;
    // Rows move between two messages: what no longer makes sense is left to the next round (15.10).
    if (compareKeys(begin, end) > 0) return;
    if (verb === 'no_data' || begin === end) {
      for await (const rows of this.#pieces(begin, end, signal)) for (const row of rows) yield { type: 'state', row };
      return;
    }
    let count = 0;
    for await (const rows of this.#pieces(begin, end, signal)) count += rows.length;
    if (count < 2) return;
    yield* await this.#halves({ begin, end, id }, Math.floor(count / 2), this.#pieces(begin, end, signal));
  }

  async #halves(
    { begin, end, id }: Omit<RangeCheck, 'checksum'>,
    leftRows: number,
    pieces: AsyncIterable<readonly Row[]>,
  ): Promise<SyncStep<Row>[]> {
    const left = new RangeHash();
    const right = new RangeHash();
    let leftEnd = begin;
    let tail = end;
    for await (const rows of pieces) {
      for (const { key, checksum } of rows) {
        if (left.rows < leftRows) {
          left.add(checksum);
          leftEnd = key;
        } else {
          if (right.rows === 0) tail = key;
          right.add(checksum);
        }
      }
    }
    // So many rows are gone since they were counted that there is nothing to be halved.
    if (right.rows === 0) return [];
    return [
      { type: 'integrity_check_left', check: { begin, end: leftEnd, checksum: left.digest(), id, tail } },
      { type: 'integrity_check_right', check: { begin: tail, end, checksum: right.digest(), id } },
    ];
  }

  /** The rows of a range, in groups that are whole in themselves. */
  async *#pieces(begin: string, end: string, signal?: AbortSignal): AsyncGenerator<readonly Row[], void, undefined> {
    let last: string | undefined;
    for (;;) {
      const rows: Row[] = [];
      for (const row of this.#source.range(last ?? begin, end)) {
        if (row.key === last) continue;
        rows.push(row);
        if (rows.length === ROWS_A_TURN) break;
      }
      if (rows.length > 0) yield rows;
      last = rows.at(-1)?.key;
      if (rows.length < ROWS_A_TURN || last === undefined) return;
      await turn();
      signal?.throwIfAborted();
    }
  }
}
