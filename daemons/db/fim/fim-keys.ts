import { SLOT_BYTES } from '../rows/row-limits.js';
import { isHex } from '../rows/row-packer.js';

const NUMBER_BYTES = 6;
/** Bytes of a hash in the index: more are of no use, as the entry itself is looked at. */
const PREFIX_BYTES = 8;
const LEAST_HASH_BYTES = 16;

/** Key of the place where an entry's path is found by its number. */
export function numberKey(slot: number, number: number): Buffer {
  const key = Buffer.allocUnsafe(SLOT_BYTES + NUMBER_BYTES);
  key.writeUInt32BE(slot, 0);
  key.writeUIntBE(number, SLOT_BYTES, NUMBER_BYTES);
  return key;
}

/** Key in the index of hashes. @param hash what {@link isIndexed} */
export function hashKey(slot: number, hash: string, number: number): Buffer {
  const key = Buffer.allocUnsafe(SLOT_BYTES + PREFIX_BYTES + NUMBER_BYTES);
  key.writeUInt32BE(slot, 0);
  key.write(hash, SLOT_BYTES, PREFIX_BYTES, 'hex');
  key.writeUIntBE(number, SLOT_BYTES + PREFIX_BYTES, NUMBER_BYTES);
  return key;
}

/** The number in a key of the index of hashes. */
export function numberOfHashKey(key: Buffer): number {
  return key.readUIntBE(SLOT_BYTES + PREFIX_BYTES, NUMBER_BYTES);
}

/** Whether a hash is found by the index: not what is no hash. @param hash in lower case */
export function isIndexed(hash: string | undefined): hash is string {
  return hash !== undefined && hash.length >= 2 * LEAST_HASH_BYTES && isHex(hash);
}

/** Largest number of an entry. */
export const LAST_NUMBER = 2 ** (8 * NUMBER_BYTES) - 1;
