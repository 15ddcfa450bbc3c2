import type { ByteSet } from './ast.js';

/** A set of the bytes a predicate accepts. */
export function setOf(accepts: (byte: number) => boolean): ByteSet {
  const set = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte += 1) if (accepts(byte)) set[byte] = 1;
  return set;
}

/** Adds all bytes of `from` to `into`. */
export function addAll(into: ByteSet, from: ByteSet): void {
  for (let byte = 0; byte < 256; byte += 1) if (from[byte] === 1) into[byte] = 1;
}

/** Whether two sets share a byte. */
export function intersects(a: ByteSet, b: ByteSet): boolean {
  for (let byte = 0; byte < 256; byte += 1) if (a[byte] === 1 && b[byte] === 1) return true;
  return false;
}

/** The only byte of a set, or undefined. */
export function singleByte(set: ByteSet): number | undefined {
  const byte = set.indexOf(1);
  return byte >= 0 && set.indexOf(1, byte + 1) < 0 ? byte : undefined;
}

/** The lower-case letter whose two cases make up the set, or undefined. */
export function letterOfBothCases(set: ByteSet): number | undefined {
  const upper = set.indexOf(1);
  if (upper < 0x41 || upper > 0x5a || set.indexOf(1, upper + 1) !== upper + 0x20) return undefined;
  return set.indexOf(1, upper + 0x21) < 0 ? upper + 0x20 : undefined;
}

/** The first bytes of a set, in order. @param most how many at most */
export function membersOf(set: ByteSet, most = 256): number[] {
  const members: number[] = [];
  for (let byte = set.indexOf(1); byte >= 0 && members.length < most; byte = set.indexOf(1, byte + 1)) {
    members.push(byte);
  }
  return members;
}
