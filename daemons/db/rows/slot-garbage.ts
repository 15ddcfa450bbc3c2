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

/** Takes some of what is in a slot away, and at last the slot itself from those to be emptied. @returns whether it did */
export type EmptyPiece = (slot: number) => Promise<boolean>;

/**
 * Empties slots whose component was cleared or whose agent was removed, in small pieces. What is left at a stop is gone on
 * with after the next start.
 */
export class SlotGarbage {
  readonly #garbage: ComponentTables['garbage'];
  readonly #emptyPiece: EmptyPiece;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #asked = false;

  /** @param garbage the slots */
  constructor(garbage: ComponentTables['garbage'], emptyPiece: EmptyPiece) {
    this.#garbage = garbage;
    this.#emptyPiece = emptyPiece;
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
      try {
        if (await this.#emptyPiece(slot)) return;
      } catch {
        // The writer reports what the disk does not take; what is to be removed stays noted.
        await this.#pause(RETRY_MS);
        continue;
      }
      await this.#pause(PAUSE_MS);
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, this.#stopped.signal, { ref: false });
  }
}

/** Removes rows of a slot from tables whose keys begin with it. */
export function removingRows(
  store: LmdbStore,
  garbage: ComponentTables['garbage'],
  tables: readonly BinaryTable[],
): EmptyPiece {
  return async (slot) => {
    const changes = rowsOf(slot, tables);
    await store.commit(changes.length === 0 ? [garbage.remove(slot)] : changes);
    return changes.length === 0;
  };
}

function rowsOf(slot: number, tables: readonly BinaryTable[]): Change[] {
  for (const table of tables) {
    const changes = [...table.keys({ ...slotRange(slot), limit: ROWS_PER_TURN })].map((key) => table.remove(key));
    if (changes.length > 0) return changes;
  }
  return [];
}
