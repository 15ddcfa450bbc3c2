import { createHash } from 'node:crypto';
import type { InventoryTable } from './inventory-tables.js';

/** A row as an agent has it: columns and marks by their names. */
export type InventoryRow = Readonly<Record<string, string | number>>;

/**
 * Key of a row that has none among its columns: SHA1 of the values of the key columns, one behind the other
 * (integrity-and-inventory.md 11.3).
 */
export function itemId(row: InventoryRow, columns: readonly string[]): string {
  return sha1(columns.map((name) => String(row[name] ?? '')).join(''));
}

/**
 * Checksum of a row: SHA1 of its columns as JSON with sorted keys (11.3). Numbers of columns that hold any number keep a
 * fraction, `2400.0`.
 */
export function rowChecksum(row: InventoryRow, { columns }: Pick<InventoryTable, 'columns'>): string {
  const reals = new Set(columns.filter(({ type }) => type === 'real').map(({ name }) => name));
  const members = Object.keys(row)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${valueText(row[name] ?? '', reals.has(name))}`);
  return sha1(`{${members.join(',')}}`);
}

/** A value as JSON, as agents write it. */
export function valueText(value: string | number, isReal: boolean): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return isReal && Number.isInteger(value) ? `${String(value)}.0` : String(value);
}

function sha1(text: string): string {
  return createHash('sha1').update(text, 'utf8').digest('hex');
}
