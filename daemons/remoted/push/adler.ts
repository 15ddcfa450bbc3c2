/** Modulus of the checksum (RFC 1950). */
const BASE = 65_521;
/** Bytes after which the sums are reduced, so that they stay whole numbers below 2^31. */
const STRIDE = 3800;

/** The checksum that ends a zlib stream, as its two sums, with the number of bytes it is of. */
export type Adler = { readonly a: number; readonly b: number; readonly bytes: number };

/** Checksum of some bytes. */
export function adler32(bytes: Buffer): Adler {
  let a = 1;
  let b = 0;
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(at + STRIDE, bytes.length);
    for (; at < end; at += 1) {
      a += bytes[at] ?? 0;
      b += a;
    }
    a %= BASE;
    b %= BASE;
  }
  return { a, b, bytes: bytes.length };
}

/** Checksum of what has the first one, followed by what has the second one. */
export function joinAdler(first: Adler, second: Adler): Adler {
  return {
    a: (first.a + second.a + BASE - 1) % BASE,
    b: (first.b + second.b + (second.bytes % BASE) * (first.a + BASE - 1)) % BASE,
    bytes: first.bytes + second.bytes,
  };
}

/** The four bytes of the checksum, as they stand in the stream. */
export function adlerValue({ a, b }: Adler): number {
  return b * 65_536 + a;
}
