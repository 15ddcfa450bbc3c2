import { MAX_PAYLOAD_BYTES } from '../../../../lib/agentlink/link-limits.js';
import type { InventoryTable } from '../../../../lib/events/inventory/inventory-tables.js';
import { type InventoryRow, itemId, rowChecksum, valueText } from '../../../../lib/events/inventory/row-marks.js';
import { compareKeys } from '../../../../lib/fim/byte-order.js';
import type { FinishedRow } from '../finished-row.js';
import type { ScanNotes } from './scan-notes.js';

/** Bytes of the values of a row: what the wire takes, without what stands around it. Longer texts are cut. */
const MAX_ROW_BYTES: number = MAX_PAYLOAD_BYTES - 4096;
/** Rows of one table. */
const MOST_ROWS = 100_000;
/**
 * Bytes of the values of a table, which the daemon keeps in memory: where there is more, each row has the same share. Descriptions
 * of packages and extensions are as long as their makers like.
 */
const MOST_TABLE_BYTES = 64 * 1024 * 1024;

/** How rows of a scan are finished. */
export type Finishing = {
  /** When the scan began: `2023/11/14 22:13:20`, UTC. */
  readonly scanTime: string;
  /** In place of the checksum of a row: one that is another each time (integrity-and-inventory.md 11.3). */
  readonly checksum?: string;
  readonly notes: ScanNotes;
};

/**
 * Rows with their marks, in the order of their keys, as messages carry them (11.2): empty texts are left out there, but not of the
 * checksum. Of rows with the same key the first is kept.
 */
export function finishRows(table: InventoryTable, rows: readonly InventoryRow[], finishing: Finishing): FinishedRow[] {
  const { notes } = finishing;
  if (rows.length > MOST_ROWS) notes.add('too_many', table.name);
  const byKey = new Map<string, FinishedRow>();
  const taken = rows.slice(0, MOST_ROWS);
  const most = Math.min(MAX_ROW_BYTES, shareOf(taken));
  for (const row of taken) {
    const finished = finishRow(table, fitted(row, most, table, notes), finishing);
    if (byKey.has(finished.key)) notes.add('repeated', `${table.name} ${finished.key}`);
    else byKey.set(finished.key, finished);
  }
  return [...byKey.values()].sort((one, other) => compareKeys(one.key, other.key));
}

function finishRow(table: InventoryTable, row: InventoryRow, { scanTime, checksum }: Finishing): FinishedRow {
  const marks: Record<string, string> = { checksum: checksum ?? rowChecksum(row, table), scan_time: scanTime };
  if (table.itemId !== undefined) marks['item_id'] = itemId(row, table.itemId);
  const whole: InventoryRow = { ...row, ...marks };
  const reals = new Set(table.columns.filter(({ type }) => type === 'real').map(({ name }) => name));
  const members = Object.keys(whole)
    .sort()
    .filter((name) => whole[name] !== '')
    .map((name) => `${JSON.stringify(name)}:${valueText(whole[name] ?? '', reals.has(name))}`);
  return { key: String(whole[table.key] ?? ''), checksum: marks['checksum'] ?? '', text: `{${members.join(',')}}` };
}

/** Bytes that a row may have where all together are too many; more than enough otherwise. */
function shareOf(rows: readonly InventoryRow[]): number {
  let characters = 0;
  for (const row of rows) for (const value of Object.values(row)) characters += String(value).length;
  return characters <= MOST_TABLE_BYTES ? MAX_ROW_BYTES : Math.floor(MOST_TABLE_BYTES / rows.length);
}

/** The row with its longest texts cut until it has no more than so many bytes. */
function fitted(row: InventoryRow, most: number, { name: table }: InventoryTable, notes: ScanNotes): InventoryRow {
  const sizes = new Map(Object.entries(row).map(([name, value]) => [name, sizeOf(value)]));
  let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (total <= most) return row;
  const texts = new Map(Object.entries(row));
  while (total > most) {
    const [longest = '', size = 0] = [...sizes].reduce((one, other) => (other[1] > one[1] ? other : one));
    const text = texts.get(longest);
    if (typeof text !== 'string' || text.length < 2) break;
    const cut = text.slice(0, Math.floor(text.length / 2)).replace(/[\uD800-\uDBFF]$/, '');
    texts.set(longest, cut);
    sizes.set(longest, sizeOf(cut));
    total -= size - sizeOf(cut);
  }
  notes.add('cut', table);
  return Object.fromEntries(texts);
}

/** Bytes of a value in a message. */
function sizeOf(value: string | number): number {
  return Buffer.byteLength(JSON.stringify(value), 'utf8');
}
