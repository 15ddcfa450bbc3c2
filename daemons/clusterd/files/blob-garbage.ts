import type { Logger } from '../../../lib/log/logger.js';
import type { BlobStore } from './blob-store.js';

/** A content that no set has named for so long is removed, milliseconds: one that is brought now is named in minutes. */
const UNNAMED_MS = 24 * 3_600_000;

export type BlobGarbageParts = {
  readonly blobs: BlobStore;
  readonly logger: Logger;
  /** All contents that sets in force and candidates name. @throws Error: nothing is removed then */
  readonly named: () => Promise<ReadonlySet<string>>;
  /** Told which contents there are, before any is removed: what is missing is brought again. */
  readonly mend: (there: ReadonlySet<string>) => Promise<void>;
  /** Asked before each removal. */
  readonly leaseHeld: () => Promise<boolean>;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
};

/**
 * Looks after the contents in the object store: removes those that no set names any more, and has those brought again that are missing. How long one was named by none is what this node has seen since it holds the
 * lease: no clock of another one counts.
 */
export class BlobGarbage {
  readonly #parts: BlobGarbageParts;
  readonly #now: () => number;
  readonly #unnamed = new Map<string, number>();

  constructor(parts: BlobGarbageParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /** To be called from time to time. @returns how many were removed @throws BusError, and what `named` throws */
  async collect(): Promise<number> {
    const { blobs, named, mend, leaseHeld, logger } = this.#parts;
    if (!(await leaseHeld())) {
      this.#unnamed.clear();
      return 0;
    }
    const there = await blobs.list();
    await mend(new Set(there));
    const inUse = await named();
    const unnamed = new Set(there.filter((name) => !inUse.has(name)));
    for (const name of this.#unnamed.keys()) if (!unnamed.has(name)) this.#unnamed.delete(name);
    const due: string[] = [];
    for (const name of unnamed) {
      const since = this.#unnamed.get(name) ?? this.#now();
      this.#unnamed.set(name, since);
      if (this.#now() - since >= UNNAMED_MS) due.push(name);
    }
    let removed = 0;
    for (const name of due) {
      // A set may name it since the look.
      if ((await named()).has(name) || !(await leaseHeld())) continue;
      await blobs.remove(name);
      this.#unnamed.delete(name);
      removed += 1;
    }
    if (removed > 0) logger.info(`${String(removed)} contents of files that no set has any more were removed.`);
    return removed;
  }
}
