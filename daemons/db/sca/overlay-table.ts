import type { BinaryEntry, BinaryTable } from '../../../lib/store/binary-table.js';
import type { Change } from '../../../lib/store/commit-queue.js';

/** Changed entries by the first four bytes of their keys, and then by the whole key; undefined is what is taken away. */
type Changed = Map<number, Map<string, Buffer | undefined>>;

/**
 * A table as one transaction sees it: what is committed, what the transaction before it changes that is on its way to the disk, and what it
 * has changed itself. Of several changes of an entry the last is written. Keys have four bytes or more.
 */
export class OverlayTable {
  readonly #table: BinaryTable;
  #under: Changed | undefined;
  readonly #own: Changed = new Map();
  #size = 0;

  constructor(table: BinaryTable, before?: OverlayTable) {
    this.#table = table;
    this.#under = before === undefined ? undefined : before.#own;
  }

  /** Entries that are changed. */
  get size(): number {
    return this.#size;
  }

  get(key: Buffer): Buffer | undefined {
    const group = key.readUInt32BE(0);
    const name = key.toString('latin1');
    for (const changed of [this.#own, this.#under]) {
      const entries = changed?.get(group);
      if (entries?.has(name) === true) return entries.get(name);
    }
    return this.#table.get(key);
  }

  put(key: Buffer, value: Buffer): void {
    this.#change(key, value);
  }

  remove(key: Buffer): void {
    this.#change(key, undefined);
  }

  /** All entries whose keys begin with these four bytes, in their order. */
  entries(group: number): BinaryEntry[] {
    const from = groupStart(group);
    const to = groupStart(group + 1);
    const committed = this.#table.entries({ from, to, toExclusive: true });
    const changed = [this.#under?.get(group), this.#own.get(group)].filter((entries) => entries !== undefined);
    if (changed.length === 0) return [...committed];
    const merged = new Map<string, Buffer | undefined>();
    for (const { key, value } of committed) merged.set(key.toString('latin1'), value);
    for (const entries of changed) for (const [name, value] of entries) merged.set(name, value);
    return [...merged]
      .filter((entry): entry is [string, Buffer] => entry[1] !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => ({ key: Buffer.from(name, 'latin1'), value }));
  }

  /** What goes to disk. */
  *changes(): Generator<Change> {
    for (const entries of this.#own.values()) {
      for (const [name, value] of entries) {
        const key = Buffer.from(name, 'latin1');
        yield value === undefined ? this.#table.remove(key) : this.#table.put(key, value);
      }
    }
  }

  /** It is committed, and so is what was before it. */
  done(): void {
    this.#under = undefined;
  }

  #change(key: Buffer, value: Buffer | undefined): void {
    const group = key.readUInt32BE(0);
    let entries = this.#own.get(group);
    if (entries === undefined) this.#own.set(group, (entries = new Map()));
    const before = entries.size;
    entries.set(key.toString('latin1'), value);
    this.#size += entries.size - before;
  }
}

function groupStart(group: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(group, 0);
  return key;
}
