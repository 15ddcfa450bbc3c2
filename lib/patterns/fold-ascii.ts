const NON_ASCII = /[\x80-\xff]/;

/** Lower-cases A-Z of a byte string and leaves every other byte alone, as all languages of decoding.md 1 fold. */
export function foldAscii(text: string): string {
  return NON_ASCII.test(text) ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text.toLowerCase();
}
