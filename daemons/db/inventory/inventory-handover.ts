import type { HandoverRow } from '../../../lib/bus/contracts/db-handover.js';
import { INVENTORY_TABLES, inventoryTable } from '../../../lib/events/inventory/inventory-tables.js';
import type { HandoverStore, SectionRow } from '../handover/handover-store.js';
import type { BatchWriter } from '../rows/batch-writer.js';
import { rowsBehind } from '../rows/rows-behind.js';
import type { InventoryBatch } from './inventory-batch.js';
import { inventoryComponent } from './inventory-component.js';
import { StoredRow } from './inventory-row.js';
import type { InventoryReader } from './inventory-store.js';

/** The inventory of an agent on its way from node to node: a section a table. */
export class InventoryHandover implements HandoverStore {
  readonly #reader: InventoryReader;
  readonly #writer: BatchWriter<InventoryBatch>;

  constructor(reader: InventoryReader, writer: BatchWriter<InventoryBatch>) {
    this.#reader = reader;
    this.#writer = writer;
  }

  sections(): readonly string[] {
    return INVENTORY_TABLES.map(({ name }) => name);
  }

  rows(agent: string, section: string, after: Buffer | undefined): Iterable<SectionRow> {
    const { tables, memory } = this.#reader;
    const table = inventoryTable(section);
    const record = table === undefined ? undefined : memory.components.get(inventoryComponent(agent, table.name));
    return record === undefined ? [] : rowsBehind(tables.rows, record.slot, after);
  }

  async adopt(agent: string, rows: readonly HandoverRow[]): Promise<number> {
    const told = rows.flatMap(({ section, key, value }) => {
      const table = inventoryTable(section);
      if (table === undefined) return [];
      const row = new StoredRow(table.name, Buffer.from(value));
      const cells = row.cells();
      if (cells.length !== table.columns.length) throw new Error(`a row of '${section}' has other columns`);
      return [{ table, key: Buffer.from(key), row: { cells, checksum: row.checksum, scanTime: row.scanTime } }];
    });
    return await this.#writer.write((batch) => {
      let stored = 0;
      for (const { table, key, row } of told) {
        const component = inventoryComponent(agent, table.name);
        if (!batch.hasRow(component, key) && batch.putRow(component, table, key, row) === undefined) stored += 1;
      }
      return stored;
    });
  }
}
