import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { SEGMENT_HEADER_BYTES } from './journal-limits.js';
import type { SegmentKey } from './journal-record.js';

/*
 * Header of a segment, twice in blocks of 512 bytes, as without marker and seed no record of the segment is readable:
 *
 *   0  magic      "SVCJRNL" and a NUL
 *   8  version    uint32, 1
 *  12  checksum   CRC32 of the fields that follow
 *  16  first      float64: position of the first record
 *  24  previous   float64: where the last record of the segment before ends
 *  32  marker, seed   4 bytes each, random
 */
const MAGIC = Buffer.from('SVCJRNL\0', 'latin1');
const VERSION = 1;
const BLOCK_BYTES = 512;
const FIELDS_FROM = 16;
const FIELDS_TO = 40;

const FILE_NAME = /^(\d{16})\.journal$/;

/** What the header of a segment says. */
export type SegmentHeader = {
  readonly first: number;
  /** Where the segment before ends. Bytes of it behind this were never acknowledged, a gap from here to `first` is none. */
  readonly previousEnd: number;
  readonly key: SegmentKey;
};

/** Name of the file of the segment that begins at a position: names sort as positions do. */
export function segmentFileName(first: number): string {
  return `${String(first).padStart(16, '0')}.journal`;
}

/** The position in the name of a segment's file; undefined for another file. */
export function segmentFirst(fileName: string): number | undefined {
  const digits = FILE_NAME.exec(fileName)?.[1];
  const first = Number(digits);
  return digits !== undefined && Number.isSafeInteger(first) ? first : undefined;
}

/** A key for a new segment. */
export function newSegmentKey(): SegmentKey {
  return { marker: randomBytes(4), seed: randomBytes(4).readUInt32LE() };
}

export function encodeSegmentHeader({ first, previousEnd, key }: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(VERSION, 8);
  bytes.writeDoubleLE(first, 16);
  bytes.writeDoubleLE(previousEnd, 24);
  key.marker.copy(bytes, 32);
  bytes.writeUInt32LE(key.seed, 36);
  bytes.writeUInt32LE(crc32(bytes.subarray(FIELDS_FROM, FIELDS_TO)), 12);
  bytes.copy(bytes, BLOCK_BYTES, 0, BLOCK_BYTES);
  return bytes;
}

/** Reads the header from the first bytes of a segment; undefined when neither copy is whole. */
export function decodeSegmentHeader(bytes: Buffer, first: number): SegmentHeader | undefined {
  for (const at of [0, BLOCK_BYTES]) {
    const block = bytes.subarray(at, at + BLOCK_BYTES);
    if (
      block.length >= FIELDS_TO &&
      block.subarray(0, MAGIC.length).equals(MAGIC) &&
      block.readUInt32LE(8) === VERSION &&
      block.readUInt32LE(12) === crc32(block.subarray(FIELDS_FROM, FIELDS_TO)) &&
      block.readDoubleLE(16) === first
    ) {
      const key = { marker: Buffer.from(block.subarray(32, 36)), seed: block.readUInt32LE(36) };
      return { first, previousEnd: block.readDoubleLE(24), key };
    }
  }
  return undefined;
}
