import { BusError } from '../../../lib/bus/bus-error.js';
import { describeError } from '../../../lib/daemon/describe-error.js';
import type { LmdbStore } from '../../../lib/store/lmdb-store.js';
import { StoreError } from '../../../lib/store/store-error.js';
import { FimBatch, type FimMemory } from './fim-batch.js';
import { MAX_BATCH_CHANGES } from './fim-limits.js';
import type { FimTables } from './fim-store.js';

/** What changes the store. A task that throws must have changed nothing. */
export type FimTask<T> = (batch: FimBatch) => T | Promise<T>;

type Waiting = {
  readonly run: (batch: FimBatch) => Promise<(() => void) | undefined>;
  readonly reject: (error: unknown) => void;
};

/**
 * Runs tasks one after the other, and commits what those that wait together have changed in one transaction: a thousand
 * states of an agent cost one sync of the disk.
 */
export class FimWriter {
  readonly #store: LmdbStore;
  readonly #tables: FimTables;
  readonly #memory: FimMemory;
  readonly #setProblem: (problem: string | undefined) => void;
  readonly #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #failing = false;
  readonly counters = { commits: 0, failedCommits: 0, changes: 0 };

  /** @param setProblem is told while the disk does not take changes */
  constructor(
    store: LmdbStore,
    tables: FimTables,
    memory: FimMemory,
    setProblem: (problem: string | undefined) => void,
  ) {
    this.#store = store;
    this.#tables = tables;
    this.#memory = memory;
    this.#setProblem = setProblem;
  }

  /**
   * Resolves with what the task gives when its changes are on disk.
   * @throws BusError `disk_full`, `disk_failed`; what the task throws. Nothing has changed then
   */
  write<T>(task: FimTask<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        run: async (batch) => {
          try {
            const result = await task(batch);
            return () => {
              resolve(result);
            };
          } catch (error) {
            reject(error as Error);
            return undefined;
          }
        },
        reject,
      });
      this.#running ??= Promise.resolve().then(() => this.#run());
    });
  }

  /** Resolves when nothing waits. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) await this.#transaction();
    this.#running = undefined;
  }

  async #transaction(): Promise<void> {
    const batch = new FimBatch(this.#tables, this.#memory);
    const tasks: { readonly task: Waiting; readonly succeed: () => void }[] = [];
    for (let task = this.#waiting.shift(); task !== undefined; task = this.#waiting.shift()) {
      const succeed = await task.run(batch);
      if (succeed !== undefined) tasks.push({ task, succeed });
      if (batch.size >= MAX_BATCH_CHANGES) break;
    }
    try {
      const changes = batch.changes();
      if (changes.length > 0) {
        await this.#store.commit(changes);
        batch.done();
        this.counters.commits += 1;
        this.counters.changes += changes.length;
        if (this.#failing) this.#setProblem(undefined);
        this.#failing = false;
      }
      for (const { succeed } of tasks) succeed();
    } catch (error) {
      this.counters.failedCommits += 1;
      this.#failing = true;
      this.#setProblem(`Files of agents cannot be stored: ${describeError(error)}`);
      const reason = storeFailure(error);
      for (const { task } of tasks) task.reject(reason);
    }
  }
}

function storeFailure(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  return new BusError(error.code === 'full' ? 'disk_full' : 'disk_failed', error.message, { cause: error });
}
