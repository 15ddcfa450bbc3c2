import { pause } from '../../../lib/async/pause.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import type { LmdbStore } from '../../../lib/store/lmdb-store.js';
import { slotRange } from './fim-keys.js';
import { ROWS_PER_TURN } from './fim-limits.js';
import type { FimTables } from './fim-store.js';

/** Between two pieces: others write, too. */
const PAUSE_MS = 20;
/** After the disk did not take a piece. */
const RETRY_MS = 5000;

/**
 * Empties slots whose component was cleared or whose agent was removed, in small pieces. What is left at a stop is gone on
 * with after the next start.
 */
export class FimGarbage {
  readonly #store: LmdbStore;
  readonly #tables: FimTables;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #asked = false;

  constructor(store: LmdbStore, tables: FimTables) {
    this.#store = store;
    this.#tables = tables;
  }

  /** Looks whether there is something to empty. */
  wake(): void {
    this.#asked = true;
    if (this.#stopped.signal.aborted) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when there is nothing more to empty. */
  async emptied(): Promise<void> {
    this.wake();
    while (this.#running !== undefined) await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#asked && !this.#stopped.signal.aborted) {
      this.#asked = false;
      for (const [slot] of [...this.#tables.garbage.entries()]) await this.#empty(slot);
    }
  }

  async #empty(slot: number): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const changes = this.#piece(slot);
      const isLast = changes.length === 0;
      try {
        await this.#store.commit(isLast ? [this.#tables.garbage.remove(slot)] : changes);
      } catch {
        // The writer reports what the disk does not take; what is to be removed stays noted.
        await this.#pause(RETRY_MS);
        continue;
      }
      if (isLast) return;
      await this.#pause(PAUSE_MS);
    }
  }

  #piece(slot: number): Change[] {
    const { rows, numbers, hashes, findings } = this.#tables;
    for (const table of [rows, numbers, hashes, findings]) {
      const changes = [...table.keys({ ...slotRange(slot), limit: ROWS_PER_TURN })].map((key) => table.remove(key));
      if (changes.length > 0) return changes;
    }
    return [];
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, this.#stopped.signal, { ref: false });
  }
}
