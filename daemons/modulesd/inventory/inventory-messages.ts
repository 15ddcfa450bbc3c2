import type { InventoryTableName } from '../../../lib/events/inventory/inventory-tables.js';
import type { RangeCheck, SyncStep } from '../../../lib/events/sync/sync-step.js';
import type { FinishedRow } from './finished-row.js';
import type { RowChange } from './table-rows.js';

/** Where messages of the inventory say they come from (integrity-and-inventory.md 1.1). */
export const INVENTORY_LOCATION = 'syscollector';
const COMPONENT = 'syscollector_';
/** The time of the scan in the text of a row: a quotation mark within a value has a backslash in front. */
const SCAN_TIME = /(?<=[{,])"scan_time":"[^"]*"/;

/** A change of a row as its event tells it (11.2), a byte string. @param scanTime `2023/11/14 22:13:20`, UTC */
export function deltaMessage(table: InventoryTableName, { operation, row }: RowChange, scanTime: string): string {
  // A row that is gone was seen by the scan before.
  const text = operation === 'DELETED' ? row.text.replace(SCAN_TIME, `"scan_time":"${scanTime}"`) : row.text;
  return asBytes(`{"data":${text},"operation":"${operation}","type":"dbsync_${table}"}`);
}

/** A step of the synchronisation of a table as its message for queue 5 (11.4), a byte string. */
export function inventorySyncMessage(table: InventoryTableName, step: SyncStep<FinishedRow>): string {
  return asBytes(`{"component":"${COMPONENT}${table}","data":${stepText(step)},"type":"${step.type}"}`);
}

/** Name of the component of a table. */
export function componentOf(table: InventoryTableName): string {
  return `${COMPONENT}${table}`;
}

function stepText(step: SyncStep<FinishedRow>): string {
  switch (step.type) {
    case 'integrity_clear':
      return JSON.stringify({ id: step.id });
    case 'integrity_check_global':
    case 'integrity_check_right':
      return JSON.stringify(checkData(step.check));
    case 'integrity_check_left':
      return JSON.stringify({ ...checkData(step.check), tail: step.check.tail });
    case 'state':
      return `{"attributes":${step.row.text},"index":${JSON.stringify(step.row.key)},"timestamp":""}`;
  }
}

function checkData({ begin, checksum, end, id }: RangeCheck): object {
  return { begin, checksum, end, id };
}

function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
