import { isObject } from '../../json/is-object.js';
import type { JsonMessage, JsonObject } from '../sync/read-json.js';
import { type ColumnType, type InventoryTable, inventoryTable } from './inventory-tables.js';
import { itemId } from './row-marks.js';

/** A number; one that is larger than a number can hold is given by its digits. */
export type CellValue = string | number | undefined;

/** A row as it was told. */
export type ToldRow = {
  /** Values in the order of the table's columns. */
  readonly cells: readonly CellValue[];
  readonly checksum: string;
  /** As the agent wrote it; its clock, UTC. */
  readonly scanTime: string;
};

/** A change of a row that an agent told (integrity-and-inventory.md 11.2). */
export type InventoryDelta = {
  readonly table: InventoryTable;
  readonly key: Buffer;
  /** Undefined: the row is gone. */
  readonly row: ToldRow | undefined;
};

/** A row that the synchronisation told (11.4). */
export type InventoryState = { readonly table: InventoryTable; readonly key: Buffer; readonly row: ToldRow };

const DELTA_PREFIX = 'dbsync_';
const STATE_PREFIX = 'syscollector_';

/** Older names of columns, as the reference's tables call them. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  process_working_dir: 'process_working_directory',
  process_root_dir: 'process_root_directory',
};
const INTEGER = /^-?\d{1,20}$/;

/** The table that a component of the synchronisation is. */
export function tableOfComponent(component: string): InventoryTable | undefined {
  return component.startsWith(STATE_PREFIX) ? inventoryTable(component.slice(STATE_PREFIX.length)) : undefined;
}

/**
 * Reads a message of queue `d`.
 * @returns undefined for one of another table, as agents before 4.2 send; text that says what is wrong with it
 */
export function readDelta(message: JsonMessage): InventoryDelta | string | undefined {
  const { type, operation, data } = message.value;
  if (typeof type !== 'string') return 'it has no type';
  const table = type.startsWith(DELTA_PREFIX) ? inventoryTable(type.slice(DELTA_PREFIX.length)) : undefined;
  if (table === undefined) return undefined;
  if (!isObject(data)) return 'it has no data';
  const key = keyOf(table, data, message);
  if (key === undefined) return `it has no ${table.key}`;
  switch (operation) {
    case 'INSERTED':
    case 'MODIFIED':
      return { table, key, row: rowOf(table, data, message) };
    case 'DELETED':
      return { table, key, row: undefined };
    default:
      return 'its operation is none of INSERTED, MODIFIED, DELETED';
  }
}

/** Reads a `state` of the synchronisation. @returns text that says what is wrong with it */
export function readInventoryState(table: InventoryTable, message: JsonMessage): InventoryState | string {
  const { data } = message.value;
  const attributes = isObject(data) ? data['attributes'] : undefined;
  if (!isObject(data) || !isObject(attributes)) return 'the state has no attributes';
  const { index } = data;
  const key = typeof index === 'string' ? message.bytes(index) : keyOf(table, attributes, message);
  if (key === undefined) return 'the state has no index';
  return { table, key, row: rowOf(table, attributes, message) };
}

function keyOf(table: InventoryTable, data: JsonObject, message: JsonMessage): Buffer | undefined {
  const value = data[table.key];
  if (typeof value === 'string') return message.bytes(value);
  if (typeof value === 'number') return Buffer.from(String(value));
  if (table.itemId === undefined) {
    // Agents leave out what is empty: the key of such a row is.
    return table.columns.some(({ name }) => data[name] !== undefined) ? Buffer.alloc(0) : undefined;
  }
  if (!table.itemId.some((name) => data[name] !== undefined)) return undefined;
  return Buffer.from(itemId(scalars(data, message), table.itemId));
}

function rowOf({ name: table, columns }: InventoryTable, data: JsonObject, message: JsonMessage): ToldRow {
  const { checksum, scan_time: scanTime } = data;
  const cells = columns.map(({ name, type }) => {
    const value = data[name] ?? data[OTHER_NAMES[name] ?? name];
    if (table === 'network_address' && name === 'proto' && typeof value === 'number') {
      return value === 0 ? 'ipv4' : 'ipv6';
    }
    const cell = cellOf(value, type, message);
    // What the hardware does not tell is a number that none of these can be (11.4).
    return table === 'hwinfo' && typeof cell === 'number' && cell <= 0 ? undefined : cell;
  });
  return {
    cells,
    checksum: typeof checksum === 'string' ? message.text(checksum) : '',
    scanTime: typeof scanTime === 'string' ? message.text(scanTime) : '',
  };
}

function cellOf(value: unknown, type: ColumnType, message: JsonMessage): CellValue {
  if (typeof value === 'boolean') return type === 'text' ? String(value) : Number(value);
  // What is too large for a number is read as none that JSON has: 1e999.
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined;
  if (typeof value === 'number') return type === 'text' ? String(value) : value;
  if (typeof value !== 'string') return undefined;
  if (type === 'text') return value === '' ? undefined : message.text(value);
  if (value.trim() === '') return undefined;
  const number = Number(value);
  if (Number.isSafeInteger(number) || (type === 'real' && Number.isFinite(number))) return number;
  return INTEGER.test(value) ? value : undefined;
}

function scalars(data: JsonObject, message: JsonMessage): Record<string, string | number> {
  const found: Record<string, string | number> = Object.create(null) as Record<string, string | number>;
  for (const [name, value] of Object.entries(data)) {
    if (typeof value === 'string') found[name] = message.text(value);
    else if (typeof value === 'number') found[name] = value;
  }
  return found;
}
