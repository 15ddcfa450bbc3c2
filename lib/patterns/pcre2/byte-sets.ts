import type { ByteSet } from './ast.js';

/** A set of the bytes a predicate accepts. */
export function setOf(accepts: (byte: number) => boolean): ByteSet {
  const set = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte += 1) if (accepts(byte)) set[byte] = 1;
  return set;
}

/** The bytes that are not in a set. */
export function complement(set: ByteSet): ByteSet {
  return setOf((byte) => set[byte] === 0);
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

/** The set with the other case of every ASCII letter added; other bytes do not fold without UTF. */
export function withOtherCase(set: ByteSet): ByteSet {
  const folded = Uint8Array.from(set);
  for (let lower = 0x61; lower <= 0x7a; lower += 1) {
    const upper = lower - 0x20;
    if (set[lower] === 1 || set[upper] === 1) {
      folded[lower] = 1;
      folded[upper] = 1;
    }
  }
  return folded;
}

const between = (low: number, high: number) => (byte: number) => byte >= low && byte <= high;
const digit = between(0x30, 0x39);
const upper = between(0x41, 0x5a);
const lower = between(0x61, 0x7a);
const alpha = (byte: number): boolean => upper(byte) || lower(byte);
const space = (byte: number): boolean => byte === 0x20 || between(0x09, 0x0d)(byte);
const horizontal = (byte: number): boolean => byte === 0x09 || byte === 0x20 || byte === 0xa0;
const vertical = (byte: number): boolean => between(0x0a, 0x0d)(byte) || byte === 0x85;
const graph = between(0x21, 0x7e);

/** Classes behind one-letter escapes; the capital letter is the complement. */
export const ESCAPE_CLASSES: ReadonlyMap<string, ByteSet> = new Map(
  (
    [
      ['d', digit],
      ['w', (byte: number) => alpha(byte) || digit(byte) || byte === 0x5f],
      ['s', space],
      ['h', horizontal],
      ['v', vertical],
    ] as const
  ).flatMap(([name, accepts]) => {
    const set = setOf(accepts);
    return [
      [name, set],
      [name.toUpperCase(), complement(set)],
    ] as [string, ByteSet][];
  }),
);

/** POSIX class names of `[[:name:]]`, in the C locale. */
export const POSIX_CLASSES: ReadonlyMap<string, ByteSet> = new Map(
  (
    [
      ['alnum', (byte: number) => alpha(byte) || digit(byte)],
      ['alpha', alpha],
      ['ascii', between(0, 0x7f)],
      ['blank', (byte: number) => byte === 0x20 || byte === 0x09],
      ['cntrl', (byte: number) => byte < 0x20 || byte === 0x7f],
      ['digit', digit],
      ['graph', graph],
      ['lower', lower],
      ['print', between(0x20, 0x7e)],
      ['punct', (byte: number) => graph(byte) && !alpha(byte) && !digit(byte)],
      ['space', space],
      ['upper', upper],
      ['word', (byte: number) => alpha(byte) || digit(byte) || byte === 0x5f],
      ['xdigit', (byte: number) => digit(byte) || between(0x41, 0x46)(byte) || between(0x61, 0x66)(byte)],
    ] as const
  ).map(([name, accepts]) => [name, setOf(accepts)]),
);

export const ANY = setOf(() => true);
export const NOT_NEWLINE = setOf((byte) => byte !== 0x0a);
