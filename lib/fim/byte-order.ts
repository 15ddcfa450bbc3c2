/*
 * Paths of file integrity monitoring are byte strings (one char code 0..255 a byte, as the engine's texts are): a name
 * that is no UTF-8 stays itself, and comparing two of them with `<` is comparing their bytes.
 */

/**
 * Order of keys in the range synchronisation: by their bytes in UTF-8 (integrity-and-inventory.md 5, 15.2). Right for
 * byte strings and for texts; a JavaScript `<` puts texts beyond U+FFFF before some below.
 * @returns below 0, 0 or above 0
 */
export function compareKeys(first: string, second: string): number {
  const length = Math.min(first.length, second.length);
  for (let at = 0; at < length; at += 1) {
    const left = first.charCodeAt(at);
    const right = second.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return first.length - second.length;
}

/** Surrogates stand for code points beyond all that are one unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x1_0000 : unit;
}

/** The bytes of a byte string, as system calls take a path. */
export function bytesOf(byteString: string): Buffer {
  return Buffer.from(byteString, 'latin1');
}

/** A path as people read it: bytes that are no UTF-8 become U+FFFD. */
export function readable(byteString: string): string {
  return bytesOf(byteString).toString('utf8');
}
