/** Byte to byte: A-Z become a-z, every other byte stays, as all languages of decoding.md 1 fold. */
export const FOLD: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

const NON_ASCII = /[\x80-\xff]/;

/** Whether a byte string has a byte above 0x7f. */
export function hasHighByte(text: string): boolean {
  return NON_ASCII.test(text);
}

/** Lower-cases the ASCII letters of a byte string and leaves every other byte alone. */
export function foldAscii(text: string): string {
  return NON_ASCII.test(text) ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text.toLowerCase();
}
