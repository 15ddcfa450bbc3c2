import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Change, Undo } from '../../lib/store/commit-queue.js';
import { LmdbStore } from '../../lib/store/lmdb-store.js';
import type { StoreError } from '../../lib/store/store-error.js';
import type { StoreTable } from '../../lib/store/store-table.js';
import { FEED_TABLES, type FeedStore, feedStore } from './feed/feed-store.js';

const RUNS = 'runs';
const ACTIVE = 'active';
const OFFENDERS = 'offenders';
const NUMBERS = 'numbers';
const LAST_ID = 'last_id';

const time = z.number().int().min(0);
const count = z.number().int().min(0);

/** A response that is accepted and whose script has not ended, or been told whether to go on. */
const run = z.object({
  /** JSON of daemons-and-config.md 5.2. */
  message: z.string(),
  /** Scripts that were started for it. */
  starts: count,
  /** The key that its script was about to be told to go on with; whether it was told is not known. */
  answered: z.string().optional(),
});
export type StoredRun = z.output<typeof run>;

/** A response that is in force and has to be undone. */
const active = z.object({
  key: z.string(),
  /** Path of its program from the home. */
  program: z.string(),
  /** Message it was asked for with. */
  message: z.string(),
  /** Seconds it is in force from its last message on. */
  timeout: z.number().int().min(1),
  /** When it is undone, epoch milliseconds. */
  due: time,
});
export type StoredActive = z.output<typeof active>;

/** How often a key was asked for after the first time, and when last, epoch milliseconds. */
const offender = z.object({ key: z.string(), hits: count, at: time });
export type StoredOffender = z.output<typeof offender>;

/** What the tables of `queue/execd` are for. */
export type ResponseTables = {
  readonly runs: StoreTable<number, StoredRun>;
  /** By {@link storedKey}. */
  readonly active: StoreTable<string, StoredActive>;
  /** By {@link storedKey}. */
  readonly offenders: StoreTable<string, StoredOffender>;
};

/** Keys are longer than those of the store may be. */
export function storedKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/**
 * What svc-execd remembers, in `queue/execd`, which it alone opens: what it has accepted and what it has to undo, so that both
 * are done after any end of the process, of the machine, too.
 */
export class ResponseStore implements ResponseTables {
  /** Resolves with the error when nothing can be written any more; the process should end then. */
  readonly broken: Promise<StoreError>;
  readonly runs: StoreTable<number, StoredRun>;
  readonly active: StoreTable<string, StoredActive>;
  readonly offenders: StoreTable<string, StoredOffender>;
  /** What the feed of decisions remembers, on managers. */
  readonly feed: FeedStore;
  readonly #store: LmdbStore;
  readonly #numbers: StoreTable<string, number>;
  #lastId: number;

  private constructor(store: LmdbStore) {
    this.#store = store;
    this.broken = store.broken;
    this.runs = store.table<number, StoredRun>(RUNS, run);
    this.active = store.table<string, StoredActive>(ACTIVE, active);
    this.offenders = store.table<string, StoredOffender>(OFFENDERS, offender);
    this.feed = feedStore(store);
    this.#numbers = store.table<string, number>(NUMBERS, count);
    this.#lastId = this.#numbers.get(LAST_ID) ?? 0;
  }

  /** @param directory `queue/execd` @throws StoreError `damaged`, `too_new`, `in_use`, `full` */
  static async open(directory: string): Promise<ResponseStore> {
    const store = await LmdbStore.open({ directory, tables: [RUNS, ACTIVE, OFFENDERS, NUMBERS, ...FEED_TABLES] });
    try {
      return new ResponseStore(store);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** The changes that add a run, whose id no other has. */
  newRun(message: string): { readonly id: number; readonly changes: readonly Change[] } {
    const id = (this.#lastId += 1);
    return { id, changes: [this.runs.put(id, { message, starts: 0 }), this.#numbers.put(LAST_ID, id)] };
  }

  /** As `LmdbStore.commit`. @throws StoreError: nothing was changed */
  commit(changes: readonly Change[], undo?: Undo): Promise<void> {
    return this.#store.commit(changes, undo);
  }

  async close(): Promise<void> {
    await this.#store.close();
  }
}
