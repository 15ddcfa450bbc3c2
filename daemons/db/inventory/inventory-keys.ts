import { createHash } from 'node:crypto';
import { behindPrefix, rowKey } from '../rows/row-keys.js';
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

/** Keys of the index from one on, up to another one that does not count in. */
export type KeyRange = { readonly from: Buffer; readonly fromExclusive?: boolean; readonly to: Buffer };

/** The keys that a value has in the index of each slot. */
export class NameRange implements KeyRange {
  readonly from: Buffer;
  readonly to: Buffer;

  constructor(hash: Buffer) {
    this.from = nameKey(0, hash);
    // One that ends with the slot alone lies in the next slot.
    this.to = behindPrefix(this.from);
  }

  /** Those of a slot; the object is the same for all slots, and good until it is asked for another one. */
  at(slot: number): this {
    this.from.writeUInt32BE(slot, 0);
    this.to.writeUInt32BE(this.to.length === SLOT_BYTES ? slot + 1 : slot, 0);
    return this;
  }
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
