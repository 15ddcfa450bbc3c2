import { createHash } from 'node:crypto';
import { rowKey } from '../rows/row-keys.js';
import { SLOT_BYTES } from '../rows/row-limits.js';

/** Bytes of a hash in the index: more are of no use, as the row itself is looked at. */
const HASH_BYTES = 8;
const NUMBER_BYTES = 6;

/** What stands for a value in the index. */
export function nameHash(value: string | number): Buffer {
  return createHash('sha1').update(String(value).toLowerCase()).digest().subarray(0, HASH_BYTES);
}

/** Key in the index of a row that has a value; without its key, what the keys of all of them begin with. */
export function nameKey(slot: number, hash: Buffer, key?: Buffer): Buffer {
  return rowKey(slot, key === undefined ? hash : Buffer.concat([hash, key]));
}

/** The key in the table of rows of what a key of the index stands for. */
export function rowKeyOfName(key: Buffer): Buffer {
  const row = Buffer.allocUnsafe(key.length - HASH_BYTES);
  // Keys are short: calls into the runtime would take longer.
  for (let at = 0; at < SLOT_BYTES; at += 1) row[at] = key[at] ?? 0;
  for (let at = SLOT_BYTES; at < row.length; at += 1) row[at] = key[at + HASH_BYTES] ?? 0;
  return row;
}

/** Key of a change in a follower's slot. */
export function changeKey(slot: number, number: number): Buffer {
  const key = Buffer.allocUnsafe(SLOT_BYTES + NUMBER_BYTES);
  key.writeUInt32BE(slot, 0);
  key.writeUIntBE(number, SLOT_BYTES, NUMBER_BYTES);
  return key;
}

/** Number of the change in its key. */
export function numberOfChange(key: Buffer): number {
  return key.readUIntBE(SLOT_BYTES, NUMBER_BYTES);
}
