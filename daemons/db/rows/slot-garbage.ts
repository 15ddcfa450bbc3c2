import { pause } from '../../../lib/async/pause.js';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import type { LmdbStore } from '../../../lib/store/lmdb-store.js';
import type { ComponentTables } from './component-store.js';
import { slotRange } from './row-keys.js';
import { ROWS_PER_TURN } from './row-limits.js';

/** Between two pieces: others write, too. */
const PAUSE_MS = 20;
/** After the disk did not take a piece. */
const RETRY_MS = 5000;

/**
 * Empties slots whose component was cleared or whose agent was removed, in small pieces. What is left at a stop is gone on
 * with after the next start.
 */
export class SlotGarbage {
  readonly #store: LmdbStore;
  readonly #garbage: ComponentTables['garbage'];
  readonly #tables: readonly BinaryTable[];
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #asked = false;

  /** @param garbage the slots @param tables whose keys begin with a slot */
  constructor(store: LmdbStore, garbage: ComponentTables['garbage'], tables: readonly BinaryTable[]) {
    this.#store = store;
    this.#garbage = garbage;
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
      for (const [slot] of [...this.#garbage.entries()]) await this.#empty(slot);
    }
  }

  async #empty(slot: number): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const changes = this.#piece(slot);
      const isLast = changes.length === 0;
      try {
        await this.#store.commit(isLast ? [this.#garbage.remove(slot)] : changes);
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
    for (const table of this.#tables) {
      const changes = [...table.keys({ ...slotRange(slot), limit: ROWS_PER_TURN })].map((key) => table.remove(key));
      if (changes.length > 0) return changes;
    }
    return [];
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, this.#stopped.signal, { ref: false });
  }
}
