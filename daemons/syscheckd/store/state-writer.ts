import { retry } from '../../../lib/async/retry.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import type { LmdbStore } from '../../../lib/store/lmdb-store.js';
import { StoreError } from '../../../lib/store/store-error.js';

/** Changes of one transaction: what holds the event loop for some milliseconds. */
const MOST_CHANGES = 1024;
/** Changes that wait for the disk before those who make them wait too. */
const MOST_WAITING = 4096;
/** Pause before another try when the disk is full. */
const FULL_PAUSE_MS = 2000;

/** Where changes that belong together are written. */
type Target = Pick<LmdbStore, 'commit'>;

type StateBatch = {
  readonly changes: readonly Change[];
  readonly resolve: () => void;
  readonly reject: (error: StoreError) => void;
};

/**
 * Brings changes to disk in the order they were made, those of one batch in one transaction. What was taken is written:
 * while the disk is full it waits, and whoever makes changes waits with it.
 */
export class StateWriter {
  /** Resolves with the error when the store takes nothing any more. */
  readonly broken: Promise<StoreError>;
  readonly #target: Target;
  readonly #logger: Logger;
  readonly #pauseMs: number;
  readonly #stop = new AbortController();
  #batches: StateBatch[] = [];
  #waiting = 0;
  #running: Promise<void> | undefined;
  #roomWaiters: { readonly resolve: () => void; readonly reject: (error: StoreError) => void }[] = [];
  #failure: StoreError | undefined;
  #reportBroken: (error: StoreError) => void = () => {};

  /** @param pauseMs before another try when the disk is full */
  constructor(target: Target, logger: Logger, pauseMs: number = FULL_PAUSE_MS) {
    this.#target = target;
    this.#logger = logger;
    this.#pauseMs = pauseMs;
    this.broken = new Promise((resolve) => (this.#reportBroken = resolve));
  }

  /** Why nothing is written any more. */
  get failure(): StoreError | undefined {
    return this.#failure;
  }

  /** Takes a batch. Resolves when it is on disk. @throws StoreError when the store is broken or closed */
  write(changes: readonly Change[]): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const written = new Promise<void>((resolve, reject) => {
      this.#batches.push({ changes, resolve, reject });
    });
    // Who needs to know asks; the others hear of it with their next change.
    written.catch(() => {});
    this.#waiting += changes.length;
    // The rest of this turn's batches join the first transaction.
    this.#running ??= Promise.resolve().then(() => this.#run());
    return written;
  }

  /** Undefined when there is room for more, else resolves when there is. @throws StoreError as `write` */
  room(): Promise<void> | undefined {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#waiting < MOST_WAITING) return undefined;
    return new Promise((resolve, reject) => this.#roomWaiters.push({ resolve, reject }));
  }

  /** Resolves when everything taken so far is on disk. @throws StoreError as `write` */
  async settled(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#running !== undefined) await this.write([]);
  }

  /** Writes what waits, unless the disk is full; then nothing more is taken. */
  async close(): Promise<void> {
    const closed = new StoreError('closed', 'queue/fim/db was closed');
    this.#stop.abort(closed);
    await this.#running;
    this.#fail(closed);
  }

  async #run(): Promise<void> {
    while (this.#batches.length > 0) {
      const group = this.#take();
      try {
        await this.#commit(group.flatMap(({ changes }) => changes));
      } catch (error) {
        this.#batches.unshift(...group);
        this.#fail(error instanceof StoreError ? error : new StoreError('failed', String(error), { cause: error }));
        break;
      }
      for (const { changes, resolve } of group) {
        this.#waiting -= changes.length;
        resolve();
      }
      if (this.#waiting < MOST_WAITING) for (const { resolve } of this.#roomWaiters.splice(0)) resolve();
    }
    this.#running = undefined;
  }

  #take(): StateBatch[] {
    let changes = 0;
    let count = 0;
    for (const batch of this.#batches) {
      changes += batch.changes.length;
      if (count > 0 && changes > MOST_CHANGES) break;
      count += 1;
    }
    return this.#batches.splice(0, count);
  }

  async #commit(changes: readonly Change[]): Promise<void> {
    let told = false;
    const onFailure = (error: unknown): void => {
      if (!(error instanceof StoreError) || error.code !== 'full') throw error;
      if (!told) this.#logger.error(`${error.message}. Changes of files wait until there is some`);
      told = true;
    };
    await retry(() => this.#target.commit(changes), { pauseMs: this.#pauseMs, signal: this.#stop.signal, onFailure });
    if (told) this.#logger.info('queue/fim/db: there is space again');
  }

  #fail(error: StoreError): void {
    this.#failure ??= error;
    if (error.code !== 'closed') this.#reportBroken(error);
    for (const { reject } of [...this.#batches.splice(0), ...this.#roomWaiters.splice(0)]) reject(this.#failure);
  }
}
