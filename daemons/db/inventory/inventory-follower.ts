import type { InventoryTable } from '../../../lib/events/inventory/inventory-tables.js';
import type { CellValue } from '../../../lib/events/inventory/read-row.js';
import type { BatchWriter } from '../rows/batch-writer.js';
import { MAX_PAGE_BYTES } from '../rows/cut-page.js';
import { keyInSlot, rowKey, slotRange } from '../rows/row-keys.js';
import { type ChangeKind, type InventoryBatch, readChange } from './inventory-batch.js';
import { agentOfComponent, inventoryComponent, tableOfNumber } from './inventory-component.js';
import { changeKey, numberOfChange } from './inventory-keys.js';
import { StoredRow } from './inventory-row.js';
import type { InventoryReader } from './inventory-store.js';

/** Values of a row by their columns; what was not told is left out. */
export type RowValues = Record<string, string | number>;

/** What changed, for whoever keeps a copy. */
export type FollowedChange = {
  readonly number: number;
  readonly kind: ChangeKind;
  readonly agent: string;
  /** Absent when all of an agent is gone. */
  readonly table?: string;
  readonly key?: Buffer;
  /** As it is now; absent: it is gone. */
  readonly row?: RowValues;
};

/**
 * Tells one other, who keeps a copy of all inventories, what changes: each change has a number, and is kept until the other
 * says that it has it. One who is new, or was away for too long, copies everything first.
 */
export class InventoryFollower {
  readonly #writer: BatchWriter<InventoryBatch>;
  readonly #reader: InventoryReader;
  readonly #onDropped: () => void;

  constructor(writer: BatchWriter<InventoryBatch>, reader: InventoryReader, onDropped: () => void) {
    this.#writer = writer;
    this.#reader = reader;
    this.#onDropped = onDropped;
  }

  /**
   * Begins anew. All that is stored now is to be copied; changes behind the number come on top of it.
   * @param name of the follower, another one with each beginning
   * @throws BusError `disk_full`, `disk_failed`
   */
  async begin(name: string): Promise<number> {
    const number = await this.#writer.write((batch) => batch.follow(name));
    this.#onDropped();
    return number;
  }

  /** Ends it: nothing is noted any more. @throws BusError `disk_full`, `disk_failed` */
  async end(): Promise<void> {
    if (this.#reader.memory.follower === undefined) return;
    await this.#writer.write((batch) => {
      batch.unfollow();
    });
    this.#onDropped();
  }

  /**
   * Changes behind a number, which the follower thereby says to have.
   * @returns undefined when it must begin anew
   * @throws BusError `disk_full`, `disk_failed`
   */
  async after(name: string, number: number, limit: number): Promise<readonly FollowedChange[] | undefined> {
    const { follower } = this.#reader.memory;
    if (follower?.name !== name || number < follower.acknowledged) return undefined;
    const { slot } = follower;
    await this.#acknowledge(slot, follower.acknowledged, number);
    const changes: FollowedChange[] = [];
    let bytes = 0;
    const { tables, memory } = this.#reader;
    // What is on the disk and not in memory yet would be told with a row that seems to be gone.
    const to = { to: changeKey(slot, memory.state.nextNumber), toExclusive: true };
    const range = { from: changeKey(slot, number), fromExclusive: true, ...to, limit };
    for (const { key, value } of tables.changes.entries(range)) {
      const { kind, component, key: row } = readChange(value);
      const change = this.#change(numberOfChange(key), kind, component, Buffer.from(row));
      bytes += 400 + 2 * row.length + (change.row === undefined ? 0 : JSON.stringify(change.row).length);
      if (bytes > MAX_PAGE_BYTES && changes.length > 0) break;
      changes.push(change);
    }
    return changes;
  }

  /** Rows of a table of an agent behind a key, to be copied. */
  rows(
    agent: string,
    table: InventoryTable,
    after: Buffer | undefined,
    limit: number,
  ): { key: Buffer; row: RowValues }[] {
    const { tables, memory } = this.#reader;
    const slot = memory.components.get(inventoryComponent(agent, table.name))?.slot;
    if (slot === undefined) return [];
    const { from, ...rest } = slotRange(slot);
    const start = after === undefined ? { from } : { from: rowKey(slot, after), fromExclusive: true };
    const found: { key: Buffer; row: RowValues }[] = [];
    let bytes = 0;
    for (const { key, value } of tables.rows.entries({ ...rest, ...start, limit })) {
      bytes += 400 + value.length * 2;
      if (bytes > MAX_PAGE_BYTES && found.length > 0) break;
      found.push({ key: Buffer.from(keyInSlot(key)), row: valuesOf(table, new StoredRow(table.name, value)) });
    }
    return found;
  }

  #change(number: number, kind: ChangeKind, component: number, key: Buffer): FollowedChange {
    const agent = agentOfComponent(component);
    const table = tableOfNumber(component);
    if (kind === 'removed' || table === undefined) return { number, kind: 'removed', agent };
    if (kind === 'cleared') return { number, kind, agent, table: table.name };
    const { tables, memory } = this.#reader;
    const slot = memory.components.get(component)?.slot;
    const bytes = slot === undefined ? undefined : tables.rows.get(rowKey(slot, key));
    const row = bytes === undefined ? undefined : valuesOf(table, new StoredRow(table.name, bytes));
    return { number, kind, agent, table: table.name, key, ...(row === undefined ? {} : { row }) };
  }

  async #acknowledge(slot: number, from: number, to: number): Promise<void> {
    if (to <= from) return;
    const range = { from: changeKey(slot, from), to: changeKey(slot, to) };
    const keys = [...this.#reader.tables.changes.keys(range)].map((key) => Buffer.from(key));
    await this.#writer.write((batch) => {
      if (batch.follower?.slot === slot) batch.acknowledge(to, keys);
    });
  }
}

function valuesOf({ columns }: InventoryTable, row: StoredRow): RowValues {
  const cells: readonly CellValue[] = row.cells();
  const values: RowValues = {};
  columns.forEach(({ name }, index) => {
    const cell = cells[index];
    if (cell !== undefined) values[name] = cell;
  });
  return values;
}
