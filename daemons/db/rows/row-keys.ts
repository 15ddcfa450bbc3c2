import { SLOT_BYTES } from './row-limits.js';

/** Key of a row in its table. @param key bytes that its component knows it by, a path for one */
export function rowKey(slot: number, key: Buffer): Buffer {
  const whole = Buffer.allocUnsafe(SLOT_BYTES + key.length);
  whole.writeUInt32BE(slot, 0);
  key.copy(whole, SLOT_BYTES);
  return whole;
}

/** What its component knows a row by; shares its memory with the key. */
export function keyInSlot(key: Buffer): Buffer {
  return key.subarray(SLOT_BYTES);
}

/** All keys of a slot, in each of the tables. */
export function slotRange(slot: number): { readonly from: Buffer; readonly to: Buffer; readonly toExclusive: true } {
  const from = Buffer.allocUnsafe(SLOT_BYTES);
  from.writeUInt32BE(slot, 0);
  const to = Buffer.allocUnsafe(SLOT_BYTES);
  to.writeUInt32BE(slot + 1, 0);
  return { from, to, toExclusive: true };
}

/** The least key behind all that begin with the same bytes. @param prefix with a byte that is not 255, as slots have */
export function behindPrefix(prefix: Buffer): Buffer {
  const last = prefix.findLastIndex((byte) => byte !== 0xff);
  const behind = Buffer.from(prefix.subarray(0, last + 1));
  behind[last] = (behind[last] ?? 0) + 1;
  return behind;
}
