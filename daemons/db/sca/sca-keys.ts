import { SLOT_BYTES } from '../rows/row-limits.js';

/** Bytes of ids of checks and of numbers of definitions. */
const NUMBER_BYTES = 6;

/** Key of a check. */
export function checkKey(slot: number, id: number): Buffer {
  const key = Buffer.allocUnsafe(SLOT_BYTES + NUMBER_BYTES);
  key.writeUInt32BE(slot, 0);
  key.writeUIntBE(id, SLOT_BYTES, NUMBER_BYTES);
  return key;
}

/** Id of the check in such a key. */
export function checkOfKey(key: Buffer): number {
  return key.readUIntBE(SLOT_BYTES, NUMBER_BYTES);
}

/** Key of a definition. */
export function definitionKey(number: number): Buffer {
  const key = Buffer.allocUnsafe(NUMBER_BYTES);
  key.writeUIntBE(number, 0, NUMBER_BYTES);
  return key;
}

/** A definition's number, and how many checks use it. */
export type DefinitionUse = { readonly number: number; readonly uses: number };

export function encodeUse({ number, uses }: DefinitionUse): Buffer {
  const bytes = Buffer.allocUnsafe(2 * NUMBER_BYTES);
  bytes.writeUIntBE(number, 0, NUMBER_BYTES);
  bytes.writeUIntBE(uses, NUMBER_BYTES, NUMBER_BYTES);
  return bytes;
}

export function decodeUse(bytes: Buffer): DefinitionUse {
  return { number: bytes.readUIntBE(0, NUMBER_BYTES), uses: bytes.readUIntBE(NUMBER_BYTES, NUMBER_BYTES) };
}
