import { isUtf8 } from 'node:buffer';

const NON_ASCII = /[\u0080-\uffff]/;

/** Bytes of a text as the engine holds them: one character a byte. */
export function toByteString(text: string): string {
  return NON_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** Text of a byte string; what is no UTF-8 becomes U+FFFD. */
export function fromByteString(bytes: string): string {
  return NON_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

/** The byte string with everything that is no UTF-8 replaced by U+FFFD: fit to be written to a file of JSON lines. */
export function toValidUtf8(bytes: string): string {
  if (isAscii(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  return isUtf8(buffer) ? bytes : Buffer.from(buffer.toString('utf8'), 'utf8').toString('latin1');
}

/** Whether a byte string is nothing but ASCII. */
export function isAscii(bytes: string): boolean {
  // Characters above 0x7f take two bytes: counting them looks at many at once, which no expression does.
  return Buffer.byteLength(bytes, 'utf8') === bytes.length;
}

/**
 * The same byte string in one piece. Texts that were put together are trees in V8, and one that is kept for long is taken
 * apart again each time it is used.
 */
export function flatBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('latin1');
}
