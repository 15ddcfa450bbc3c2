/** What a column of an entry can be. */
export type Column = string | number | boolean | Buffer | null;

/** Bytes of a value with a fixed length, its first one included, by that first one. */
const FIXED: Readonly<Record<number, number>> = {
  0xc0: 1, // nothing
  0xc2: 1, // false
  0xc3: 1, // true
  0xca: 5,
  0xcb: 9,
  0xcc: 2,
  0xcd: 3,
  0xce: 5,
  0xcf: 9,
  0xd0: 2,
  0xd1: 3,
  0xd2: 5,
  0xd3: 9,
};
const LENGTHS = Array.from({ length: 256 }, (_none, first) => {
  if (first < 0x80 || first >= 0xe0) return 1;
  if (first >= 0xa0 && first <= 0xbf) return 1 + (first & 31);
  return FIXED[first] ?? 0;
});

/**
 * Where the value behind the one at a place begins: lists look at one column of a million entries, and the others are not
 * worth the while of being made values.
 * @returns undefined for what is no value of an entry
 */
export function behindColumn(bytes: Buffer, at: number): number | undefined {
  const first = bytes[at];
  if (first === undefined) return undefined;
  const length = LENGTHS[first] ?? 0;
  if (length > 0) return at + length;
  const header = headerOf(first);
  if (header === undefined || at + header > bytes.length) return undefined;
  return at + header + bytes.readUIntBE(at + 1, header - 1);
}

/** The value at a place, as MessagePack has it. @param end where it ends */
export function readColumn(bytes: Buffer, at: number, end: number): Column {
  const first = bytes[at] ?? 0xc0;
  if (first < 0x80) return first;
  if (first >= 0xe0) return first - 0x100;
  if (first >= 0xa0 && first <= 0xbf) return bytes.toString('utf8', at + 1, end);
  switch (first) {
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return bytes.subarray(at + (headerOf(first) ?? 0), end);
    case 0xca:
      return bytes.readFloatBE(at + 1);
    case 0xcb:
      return bytes.readDoubleBE(at + 1);
    case 0xcc:
    case 0xcd:
    case 0xce:
      return bytes.readUIntBE(at + 1, end - at - 1);
    case 0xcf:
      return Number(bytes.readBigUInt64BE(at + 1));
    case 0xd0:
    case 0xd1:
    case 0xd2:
      return bytes.readIntBE(at + 1, end - at - 1);
    case 0xd3:
      return Number(bytes.readBigInt64BE(at + 1));
    case 0xd9:
    case 0xda:
    case 0xdb:
      return bytes.toString('utf8', at + (headerOf(first) ?? 0), end);
    default:
      return null;
  }
}

/** Bytes in front of texts and bytes that tell their length: 1, 2 or 4 of them behind the first. */
function headerOf(first: number): number | undefined {
  if (first === 0xc4 || first === 0xd9) return 2;
  if (first === 0xc5 || first === 0xda) return 3;
  return first === 0xc6 || first === 0xdb ? 5 : undefined;
}
