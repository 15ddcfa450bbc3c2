import { crc32 } from 'node:zlib';
import { MAX_KIND, MAX_PAYLOAD_BYTES, RECORD_HEADER_BYTES } from './journal-limits.js';

/*
 * A record, little-endian:
 *
 *   0  marker     4 bytes, the segment's own
 *   4  checksum   CRC32 of all that follows, begun with the segment's seed plus the record's distance from its start
 *   8  length     of the payload, bytes
 *  12  kind
 *  16  writtenAt  float64
 *  24  safe       float64: position up to which records were known to be safe when this one was written
 *  32  payload
 *
 * Marker and seed are random in every segment. Behind damaged bytes the next record is searched by its marker; whoever
 * sends events knows neither, so that no event can hold bytes that are then taken for a record. With the distance in
 * the checksum a record is valid in its own place only: old bytes of a disk block, or a segment that was logged as an
 * event, are not.
 */

/** One record as a reader gives it. */
export type JournalRecord = {
  /** Where it is, and where the next one is at the earliest: bytes since the first record ever. */
  readonly position: number;
  readonly next: number;
  /** What the payload is; the writer's own numbers, 0 to 65535. */
  readonly kind: number;
  /** Epoch milliseconds, as given by the writer. */
  readonly writtenAt: number;
  readonly payload: Buffer;
};

/** The random part of a segment. */
export type SegmentKey = {
  /** Four bytes, as they are in the file. */
  readonly marker: Buffer;
  readonly seed: number;
};

/** Writes the header of a record into `target` at `at`. @param distance of the record from the start of its segment */
export function putRecordHeader(
  target: Buffer,
  at: number,
  key: SegmentKey,
  distance: number,
  record: { readonly kind: number; readonly writtenAt: number; readonly payload: Buffer },
  safe: number,
): void {
  key.marker.copy(target, at);
  target.writeUInt32LE(record.payload.length, at + 8);
  target.writeUInt32LE(record.kind, at + 12);
  target.writeDoubleLE(record.writtenAt, at + 16);
  target.writeDoubleLE(safe, at + 24);
  const fields = crc32(target.subarray(at + 8, at + RECORD_HEADER_BYTES), (key.seed + distance) >>> 0);
  target.writeUInt32LE(crc32(record.payload, fields), at + 4);
}

/** Whether the 32 bytes at `at` can be the header of a record with at most `room` bytes, header included. */
export function isRecordHeader(bytes: Buffer, at: number, key: SegmentKey, room: number): boolean {
  const length = bytes.readUInt32LE(at + 8);
  return (
    room >= RECORD_HEADER_BYTES &&
    bytes.readUInt32LE(at) === key.marker.readUInt32LE(0) &&
    length <= MAX_PAYLOAD_BYTES &&
    length <= room - RECORD_HEADER_BYTES &&
    bytes.readUInt32LE(at + 12) <= MAX_KIND
  );
}

/** Bytes of the payload, of a header that `isRecordHeader` has passed. */
export function payloadLength(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 8);
}

/** Whether a whole record at `at`, which `isRecordHeader` has passed, is as it was written. */
export function hasValidChecksum(bytes: Buffer, at: number, key: SegmentKey, distance: number): boolean {
  const end = at + RECORD_HEADER_BYTES + payloadLength(bytes, at);
  return bytes.readUInt32LE(at + 4) === crc32(bytes.subarray(at + 8, end), (key.seed + distance) >>> 0);
}
