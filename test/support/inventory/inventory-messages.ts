import { inventoryTable } from '../../../lib/events/inventory/inventory-tables.js';
import { type InventoryRow, itemId, rowChecksum } from '../../../lib/events/inventory/row-marks.js';

export const SCAN_TIME = '2026/11/21 01:00:23';

/** A package as an agent has it. @param name of the package; the rest has values of its own */
export function packageRow(name: string, others: InventoryRow = {}): InventoryRow {
  return {
    ...{ architecture: 'amd64', description: `what ${name} does`, format: 'deb', groups: 'libs', install_time: ' ' },
    ...{ location: ' ', multiarch: 'same', name, priority: 'optional', size: 66560, source: 'demo' },
    ...{ vendor: 'Demo <demo@example.org>', version: '1.0-1' },
    ...others,
  };
}

/** A row with what agents add to it (integrity-and-inventory.md 11.3). */
export function markedRow(table: string, row: InventoryRow, scanTime = SCAN_TIME): InventoryRow {
  const known = inventoryTable(table);
  if (known === undefined) throw new Error(`there is no table ${table}`);
  const item = known.itemId === undefined ? {} : { item_id: itemId(row, known.itemId) };
  return { ...row, ...item, checksum: rowChecksum(row, known), scan_time: scanTime };
}

/** A message of queue `d` (11.2). */
export function delta(table: string, operation: 'INSERTED' | 'MODIFIED' | 'DELETED', row: InventoryRow): string {
  return JSON.stringify({ data: markedRow(table, row), operation, type: `dbsync_${table}` });
}

/** A `state` of queue 5 (11.4). */
export function state(table: string, row: InventoryRow, scanTime = SCAN_TIME): string {
  const attributes = markedRow(table, row, scanTime);
  const index = String(attributes[inventoryTable(table)?.key ?? '']);
  const data = { attributes, index, timestamp: '' };
  return JSON.stringify({ component: `syscollector_${table}`, data, type: 'state' });
}
