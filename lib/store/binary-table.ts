import type { Database } from 'lmdb';
import type { Change } from './commit-queue.js';

/** Bytes of a key: what LMDB takes with pages of 4 KiB. */
export const MAX_KEY_BYTES = 1978;

/** One entry of a table, as it is stored. */
export type BinaryEntry = { readonly key: Buffer; readonly value: Buffer };

/** Which entries: both ends count in, unless said otherwise. */
export type BinaryRange = {
  readonly from: Buffer;
  readonly fromExclusive?: boolean;
  readonly to: Buffer;
  readonly toExclusive?: boolean;
  readonly limit?: number;
  /** From the last one down. */
  readonly reverse?: boolean;
};

/** A table of an `LmdbStore` whose keys are bytes and are ordered as such; what values mean is the caller's. */
export class BinaryTable {
  readonly #name: string;
  readonly #database: Database<Buffer, Buffer>;

  /** Made by `LmdbStore.binaryTable`. */
  constructor(name: string, database: Database<Buffer, Buffer>) {
    this.#name = name;
    this.#database = database;
  }

  /** The entry as it was last committed. */
  get(key: Buffer): Buffer | undefined {
    return this.#database.get(key);
  }

  /** Entries as they were last committed, ascending; at most `limit`, so that a long walk is made of short ones. */
  entries({ from, to, limit, reverse = false, ...ends }: BinaryRange): Iterable<BinaryEntry> {
    const { fromExclusive = false, toExclusive = false } = ends;
    return this.#database.getRange({
      start: reverse ? to : from,
      end: reverse ? from : to,
      exclusiveStart: reverse ? toExclusive : fromExclusive,
      inclusiveEnd: !(reverse ? fromExclusive : toExclusive),
      reverse,
      ...(limit === undefined ? {} : { limit }),
    });
  }

  /** Keys only; as `entries`. */
  keys({ from, to, limit, ...ends }: Omit<BinaryRange, 'reverse'>): Iterable<Buffer> {
    return this.#database.getKeys({
      start: from,
      end: to,
      exclusiveStart: ends.fromExclusive ?? false,
      inclusiveEnd: !(ends.toExclusive ?? false),
      ...(limit === undefined ? {} : { limit }),
    });
  }

  /** The change that sets an entry, for `LmdbStore.commit`. @param key at most {@link MAX_KEY_BYTES} */
  put(key: Buffer, value: Buffer): Change {
    return { table: this.#name, key, value };
  }

  /** The change that removes an entry, if there is one. */
  remove(key: Buffer): Change {
    return { table: this.#name, key, value: undefined };
  }
}
