import type { Database } from 'lmdb';
import { Packr } from 'msgpackr';
import type { z } from 'zod';
import type { Change } from './commit-queue.js';
import { StoreError } from './store-error.js';

export type StoreKey = number | string;

const packr = new Packr({ useRecords: false });

/** One typed table of an `LmdbStore`. What is read is checked against the schema. */
export class StoreTable<K extends StoreKey, V> {
  readonly #name: string;
  readonly #database: Database<Buffer, StoreKey>;
  readonly #schema: z.ZodType<V>;
  readonly #directory: string;

  /** Made by `LmdbStore.table`. */
  constructor(name: string, database: Database<Buffer, StoreKey>, schema: z.ZodType<V>, directory: string) {
    this.#name = name;
    this.#database = database;
    this.#schema = schema;
    this.#directory = directory;
  }

  /** The entry as it was last committed. @throws StoreError `damaged` */
  get(key: K): V | undefined {
    const bytes = this.#database.get(key);
    return bytes === undefined ? undefined : this.#read(key, bytes);
  }

  /** All entries in the order of their keys. @throws StoreError `damaged` */
  *entries(): Generator<[K, V]> {
    for (const { key, value } of this.#database.getRange()) yield [key as K, this.#read(key, value)];
  }

  /** The change that sets an entry, for `LmdbStore.commit`; the value is encoded now. */
  put(key: K, value: V): Change {
    return { table: this.#name, key, value: encodeValue(value) };
  }

  /** The change that removes an entry, if there is one. */
  remove(key: K): Change {
    return { table: this.#name, key, value: undefined };
  }

  #read(key: StoreKey, bytes: Buffer): V {
    let value: unknown;
    try {
      value = decodeValue(bytes);
    } catch (error) {
      throw this.#damaged(key, error);
    }
    const parsed = this.#schema.safeParse(value);
    if (!parsed.success) throw this.#damaged(key, parsed.error);
    return parsed.data;
  }

  #damaged(key: StoreKey, cause: unknown): StoreError {
    const message = `${this.#directory}: entry ${JSON.stringify(key)} of table '${this.#name}' is not what it should be`;
    return new StoreError('damaged', message, { cause });
  }
}

/** Bytes of an entry. A copy: the encoder's own buffer is used again. */
export function encodeValue(value: unknown): Buffer {
  return Buffer.from(packr.pack(value));
}

export function decodeValue(bytes: Buffer): unknown {
  return packr.unpack(bytes);
}
