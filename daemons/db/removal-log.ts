import type { Change } from '../../lib/store/commit-queue.js';
import type { StoreTable } from '../../lib/store/store-table.js';

/** Removals that are kept while svc-analysisd does not ask for them: all agents of a manager. The oldest go first. */
const MAX_REMOVALS = 100_000;

/** An agent that was removed. */
export type Removal = {
  /** Grows with each removal, and is never used twice. */
  readonly sequence: number;
  readonly id: number;
};

/**
 * Agents that were removed, on disk with the removal, until svc-analysisd has them in its journal: what it remembers of them
 * must not be taken for what another one with the same number did.
 */
export class RemovalLog {
  readonly #now: () => number;
  readonly #most: number;
  /** On the disk, in their order. */
  #removals: Removal[] = [];
  #last = 0;
  #crowdedOut = 0;

  /** @param now epoch milliseconds; as `most`, for tests */
  constructor(now = () => Date.now(), most = MAX_REMOVALS) {
    this.#now = now;
    this.#most = most;
  }

  /** Takes over what is on the disk. */
  load(entries: Iterable<readonly [number, number]>): void {
    this.#removals = Array.from(entries, ([sequence, id]) => ({ sequence, id }));
    this.#last = this.#removals.at(-1)?.sequence ?? 0;
  }

  /**
   * Numbers a removal that is on its way to the disk. The time in microseconds, so that a registry that is restored from a
   * backup uses no number that one after the backup had.
   */
  next(id: number): Removal {
    this.#last = Math.max(this.#last + 1, this.#now() * 1000);
    return { sequence: this.#last, id };
  }

  /** The removal for which there is no room any more beside one that comes behind `more` others; undefined while there is. */
  crowdedOutBy(more: number): Removal | undefined {
    return this.#removals[this.#removals.length + more - this.#most];
  }

  /** How many were forgotten before svc-analysisd asked for them. */
  get crowdedOut(): number {
    return this.#crowdedOut;
  }

  /** Removals that are on the disk now, and those that they crowded out are not. */
  committed(removals: readonly Removal[]): void {
    for (const removal of removals) this.#removals.push(removal);
    const excess = Math.max(0, this.#removals.length - this.#most);
    this.#removals.splice(0, excess);
    this.#crowdedOut += excess;
  }

  /** Those behind a number, the oldest first. */
  after(sequence: number, limit: number): readonly Removal[] {
    const first = this.#removals.findIndex((removal) => removal.sequence > sequence);
    return first < 0 ? [] : this.#removals.slice(first, first + limit);
  }

  /** Forgets what is known elsewhere, up to a number. @returns the changes of the table */
  forget(through: number, table: StoreTable<number, number>): readonly Change[] {
    const known = this.#removals.findIndex(({ sequence }) => sequence > through);
    const gone = this.#removals.splice(0, known < 0 ? this.#removals.length : known);
    return gone.map(({ sequence }) => table.remove(sequence));
  }
}
