import type { AgentRow } from './agent-record.js';

/** A value, the first agent that has it, and how many do. */
export type RowTally<K> = { readonly key: K; readonly row: AgentRow; count: number };

/**
 * Counts agents by a value that many of them share, told apart by identity: each is looked at without looking into it,
 * and one that was met just now without a look-up.
 */
export class Tallies<K> {
  readonly #known = new Map<K, RowTally<K>>();
  #last: RowTally<K> | undefined;

  add(key: K, row: AgentRow): void {
    let tally = this.#last;
    if (tally === undefined || tally.key !== key) {
      tally = this.#known.get(key);
      if (tally === undefined) {
        tally = { key, row, count: 0 };
        this.#known.set(key, tally);
      }
      this.#last = tally;
    }
    tally.count += 1;
  }

  /** In the order in which they were first met. */
  values(): IterableIterator<RowTally<K>> {
    return this.#known.values();
  }

  count(key: K): number {
    return this.#known.get(key)?.count ?? 0;
  }
}
