import { type Options, Packr } from 'msgpackr';
import { checkMessage, MessageError } from './check-message.js';

/**
 * Plain msgpack: no records (they would carry state from one message to the next), no extension types. Members that are
 * undefined are left out, as in JSON. Integers beyond 2^53 become the nearest number.
 */
const OPTIONS: Options & { skipValues: unknown[] } = {
  useRecords: false,
  moreTypes: false,
  skipValues: [undefined],
  encodeUndefinedAsNil: true,
  mapsAsObjects: true,
  int64AsType: 'number',
  largeBigIntToFloat: true,
};
const packr = new Packr(OPTIONS);

/**
 * Encodes plain data: what the other side will not decode fails here, where it can be put right.
 * @throws Error for what plain msgpack does not carry (a Date, a symbol), or what is over the limits of a message
 */
export function encodeMessage(value: unknown): Buffer {
  const bytes = packr.pack(value);
  checkMessage(bytes);
  return bytes;
}

/** Encodes a structure the caller has built from arrays, numbers, strings and byte strings only: the hot path. */
export function encodeTrusted(value: unknown): Buffer {
  return packr.pack(value);
}

/**
 * Decodes one message from outside. Byte strings share memory with `bytes`. A key `__proto__` arrives under another name
 * (msgpackr renames it), so no object gets a prototype from outside.
 * @throws MessageError
 */
export function decodeMessage(bytes: Buffer): unknown {
  checkMessage(bytes);
  try {
    return packr.unpack(bytes);
  } catch (error) {
    throw new MessageError(`message cannot be decoded: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
