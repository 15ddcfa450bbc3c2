import type { SyncSettings } from '../../../daemons/syscheckd/sync/sync-runner.js';
import type { FimRow } from '../../../lib/events/fim/fim-messages.js';
import { compareKeys } from '../../../lib/fim/byte-order.js';
import type { RangeSource } from '../../../lib/sync/range-sync.js';

/** An agent's table of files in memory. */
export class SyncRows implements RangeSource<FimRow> {
  #rows: FimRow[];

  constructor(rows: readonly FimRow[]) {
    this.#rows = [...rows].sort((one, other) => compareKeys(one.key, other.key));
  }

  get rows(): readonly FimRow[] {
    return this.#rows;
  }

  first(): FimRow | undefined {
    return this.#rows[0];
  }

  last(): FimRow | undefined {
    return this.#rows.at(-1);
  }

  *range(begin: string, end: string): Iterable<FimRow> {
    for (let at = this.#place(begin); at < this.#rows.length; at += 1) {
      const row = this.#rows[at];
      if (row === undefined || compareKeys(row.key, end) > 0) return;
      yield row;
    }
  }

  /** Of the first row that is not before a key. */
  #place(key: string): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareKeys(this.#rows[middle]?.key ?? '', key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A row of which only path and checksum matter. */
export function syncRow(key: string, checksum: string): FimRow {
  return { key, checksum, attributes: { checksum }, inode: '1', lastEvent: 5 };
}

/** Defaults of `<synchronization>` (integrity-and-inventory.md 2.3), without a pace. */
export const SYNC_SETTINGS: SyncSettings = {
  enabled: true,
  interval: 300,
  max_interval: 3600,
  response_timeout: 30,
  queue_size: 16_384,
  thread_pool: 1,
  max_eps: 0,
  registry_enabled: true,
};
