/*
 * Entries are ordered by the bytes of their paths, and a path is asked for whatever the case of its letters (NOCASE, which
 * knows those of ASCII only). All spellings of a path are looked at in ascending order; from what is found at one of them
 * follows which is the next that can be there, so that it takes about as many looks as directories on the way.
 */

/** The first of all spellings of a path: capital letters come first. */
export function firstVariant(path: Buffer): Buffer {
  return Buffer.from(path).map((byte) => upper(byte)) as Buffer;
}

/** Whether a path is the same but for the case of its letters. */
export function isVariant(path: Buffer, other: Buffer): boolean {
  return path.length === other.length && path.every((byte, index) => upper(byte) === upper(other[index] ?? 0));
}

/** The first spelling of a path that comes behind these bytes; undefined when there is none. */
export function nextVariant(path: Buffer, behind: Buffer): Buffer | undefined {
  // As far as both go together, the last place at which the spelling can be the greater one.
  let place = -1;
  for (let index = 0; index <= path.length; index += 1) {
    const here = path[index];
    const there = behind[index];
    // What goes on is greater than what has ended.
    if (there === undefined && here !== undefined) place = index;
    if (here === undefined || there === undefined) break;
    if (lower(here) > there) place = index;
    if (there !== lower(here) && there !== upper(here)) break;
  }
  if (place === -1) return undefined;
  const variant = firstVariant(path);
  behind.copy(variant, 0, 0, place);
  const least = behind[place];
  const capital = variant[place] ?? 0;
  if (least !== undefined && capital <= least) variant[place] = lower(capital);
  return variant;
}

function upper(byte: number): number {
  return byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte;
}

function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}
