import { BusError } from '../../../lib/bus/bus-error.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import type { LmdbStore } from '../../../lib/store/lmdb-store.js';
import { StoreError } from '../../../lib/store/store-error.js';
import { MAX_BATCH_CHANGES } from './row-limits.js';

/** One transaction of a store, see `ComponentBatch`. */
export interface Batch {
  /** How many changes there are, roughly. */
  readonly size: number;
  /** Everything that goes to disk. */
  changes(): Change[];
  /** It is committed. */
  done(): void;
}

/** What changes the store. A task that throws must have changed nothing. */
export type BatchTask<B, T> = (batch: B) => T | Promise<T>;

export type BatchWriterParts<B> = {
  readonly store: Pick<LmdbStore, 'commit'>;
  /** A transaction on top of one that is on its way to the disk. */
  readonly begin: (before: B | undefined) => B;
  /** Is told while the disk does not take changes. */
  readonly setProblem: (problem: string | undefined) => void;
  /** What cannot be stored then, `Files of agents`. */
  readonly what: string;
};

type WaitingWrite<B> = {
  readonly run: (batch: B) => Promise<(() => void) | undefined>;
  readonly reject: (error: unknown) => void;
};

/** A task that has run, and how its caller is told when it is on disk. */
type FinishedTask<B> = { readonly task: WaitingWrite<B>; readonly succeed: () => void };

/** A transaction that is on its way to the disk. */
type PendingCommit<B> = {
  readonly batch: B;
  /** Resolves with the reason when it failed; never rejects. */
  readonly ended: Promise<{ readonly reason: unknown } | undefined>;
  isOver: boolean;
};

/**
 * Runs tasks one after the other, and commits what those that wait together have changed in one transaction: a thousand
 * states of an agent cost one sync of the disk. While one transaction is on its way to the disk the next is made, on top of
 * it; when the former fails, so does the latter.
 */
export class BatchWriter<B extends Batch> {
  readonly #parts: BatchWriterParts<B>;
  readonly #waiting: WaitingWrite<B>[] = [];
  #running: Promise<void> | undefined;
  #onArrival: () => void = () => {};
  #failing = false;
  readonly counters = { commits: 0, failedCommits: 0, changes: 0 };

  constructor(parts: BatchWriterParts<B>) {
    this.#parts = parts;
  }

  /**
   * Resolves with what the task gives when its changes are on disk.
   * @throws BusError `disk_full`, `disk_failed`; what the task throws. Nothing has changed then
   */
  write<T>(task: BatchTask<B, T>): Promise<T> {
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
      this.#onArrival();
      this.#running ??= Promise.resolve().then(() => this.#run());
    });
  }

  /** Resolves when nothing waits. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    let flight: PendingCommit<B> | undefined;
    while (this.#waiting.length > 0 || flight !== undefined) {
      const batch = this.#parts.begin(flight?.isOver === false ? flight.batch : undefined);
      const tasks = await this.#collect(batch, flight);
      const failure = await flight?.ended;
      if (failure === undefined) {
        flight = tasks.length === 0 ? undefined : this.#commit(batch, tasks);
      } else {
        // They were run on top of what did not happen.
        for (const { task } of tasks) task.reject(failure.reason);
        flight = undefined;
      }
    }
    this.#running = undefined;
  }

  /** Runs tasks until there are enough for a transaction, or no more and the one before is over. */
  async #collect(batch: B, flight: PendingCommit<B> | undefined): Promise<FinishedTask<B>[]> {
    const tasks: FinishedTask<B>[] = [];
    while (batch.size < MAX_BATCH_CHANGES) {
      const task = this.#waiting.shift();
      if (task !== undefined) {
        const succeed = await task.run(batch);
        if (succeed !== undefined) tasks.push({ task, succeed });
      } else if (flight === undefined || flight.isOver) {
        break;
      } else {
        await Promise.race([flight.ended, this.#arrival()]);
      }
    }
    return tasks;
  }

  /** Resolves when a task comes. */
  #arrival(): Promise<void> {
    return new Promise((resolve) => (this.#onArrival = resolve));
  }

  #commit(batch: B, tasks: readonly FinishedTask<B>[]): PendingCommit<B> {
    const ended = this.#write(batch, tasks).finally(() => {
      flight.isOver = true;
    });
    const flight: PendingCommit<B> = { batch, ended, isOver: false };
    return flight;
  }

  async #write(batch: B, tasks: readonly FinishedTask<B>[]): Promise<{ readonly reason: unknown } | undefined> {
    const { store, setProblem, what } = this.#parts;
    try {
      const changes = batch.changes();
      if (changes.length > 0) {
        await store.commit(changes);
        batch.done();
        this.counters.commits += 1;
        this.counters.changes += changes.length;
        if (this.#failing) setProblem(undefined);
        this.#failing = false;
      }
      for (const { succeed } of tasks) succeed();
      return undefined;
    } catch (error) {
      this.counters.failedCommits += 1;
      this.#failing = true;
      setProblem(`${what} cannot be stored: ${describeError(error)}`);
      const reason = storeFailure(error);
      for (const { task } of tasks) task.reject(reason);
      return { reason };
    }
  }
}

function storeFailure(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  return new BusError(error.code === 'full' ? 'disk_full' : 'disk_failed', error.message, { cause: error });
}
