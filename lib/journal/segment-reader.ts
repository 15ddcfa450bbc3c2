import { closeSync, openSync, readSync } from 'node:fs';
import { READ_CHUNK_BYTES, RECORD_HEADER_BYTES, SEGMENT_HEADER_BYTES } from './journal-limits.js';
import {
  hasValidChecksum,
  isRecordHeader,
  type JournalRecord,
  payloadLength,
  type SegmentKey,
} from './journal-record.js';

/** A stretch of a segment that holds no valid record. */
export class SegmentDamage {
  constructor(
    readonly from: number,
    /** Position of the next valid record, or the limit that was given. */
    readonly to: number,
    readonly reason: string,
  ) {}
}

const EMPTY = Buffer.alloc(0);

/**
 * Reads records of one segment in large chunks. Payloads are parts of a chunk, and no chunk is written to again where
 * it was handed out: while the writer appends a little at a time, one chunk is filled up piece by piece.
 */
export class SegmentReader {
  readonly #key: SegmentKey;
  readonly #first: number;
  readonly #fd: number;
  #chunk = EMPTY;
  /** Position of the first byte of the chunk, and bytes of it that are read. */
  #from = 0;
  #filled = 0;
  #safe = 0;

  /** @throws the system's error when the file cannot be opened */
  constructor(segment: { readonly path: string; readonly first: number; readonly key: SegmentKey }) {
    this.#key = segment.key;
    this.#first = segment.first;
    this.#fd = openSync(segment.path, 'r');
  }

  /** What the record that was read last says about those before it: up to which position they were safe. */
  get safe(): number {
    return this.#safe;
  }

  close(): void {
    closeSync(this.#fd);
  }

  /**
   * The record at a position, or what is there instead.
   * @param limit position up to which there are records, all of them whole; greater than `position`
   * @throws the system's error when the file cannot be read
   */
  read(position: number, limit: number): JournalRecord | SegmentDamage {
    const reason = this.#check(position, limit);
    if (reason !== undefined) return new SegmentDamage(position, this.#search(position + 1, limit), reason);
    const at = position - this.#from;
    const start = at + RECORD_HEADER_BYTES;
    const end = start + payloadLength(this.#chunk, at);
    this.#safe = this.#chunk.readDoubleLE(at + 24);
    return {
      position,
      next: this.#from + end,
      kind: this.#chunk.readUInt32LE(at + 12),
      writtenAt: this.#chunk.readDoubleLE(at + 16),
      payload: this.#chunk.subarray(start, end),
    };
  }

  /** Gets the record into the chunk. @returns why there is none */
  #check(position: number, limit: number): string | undefined {
    if (!this.#load(position, RECORD_HEADER_BYTES, limit)) return 'the file ends inside a record';
    if (!isRecordHeader(this.#chunk, position - this.#from, this.#key, limit - position)) {
      return 'no record begins here';
    }
    const size = RECORD_HEADER_BYTES + payloadLength(this.#chunk, position - this.#from);
    if (!this.#load(position, size, limit)) return 'the file ends inside a record';
    return hasValidChecksum(this.#chunk, position - this.#from, this.#key, position - this.#first)
      ? undefined
      : 'the checksum of a record is wrong';
  }

  /** Position of the first valid record from a position on, or the limit. */
  #search(position: number, limit: number): number {
    let at = position;
    while (limit - at >= RECORD_HEADER_BYTES && this.#load(at, RECORD_HEADER_BYTES, limit)) {
      const found = this.#chunk.subarray(0, this.#filled).indexOf(this.#key.marker, at - this.#from);
      if (found < 0) {
        // The last three bytes may be the beginning of a marker.
        at = Math.max(at + 1, this.#from + this.#filled - 3);
        continue;
      }
      at = this.#from + found;
      if (this.#check(at, limit) === undefined) return at;
      at += 1;
    }
    return limit;
  }

  /** Has `bytes` from a position on in the chunk. @returns false when limit or file end before */
  #load(position: number, bytes: number, limit: number): boolean {
    if (bytes > limit - position) return false;
    const at = position - this.#from;
    if (at < 0 || at > this.#filled) {
      // Another place: nothing of the chunk serves.
      this.#chunk = EMPTY;
      this.#from = position;
      this.#filled = 0;
    } else if (this.#filled - at >= bytes) {
      return true;
    }
    if (this.#chunk.length < position - this.#from + bytes) this.#renew(position, bytes, limit);
    while (this.#filled < position - this.#from + bytes) {
      const offset = SEGMENT_HEADER_BYTES + this.#from + this.#filled - this.#first;
      const room = Math.min(this.#chunk.length - this.#filled, limit - this.#from - this.#filled);
      const read = readSync(this.#fd, this.#chunk, this.#filled, room, offset);
      if (read === 0) return false;
      this.#filled += read;
    }
    return true;
  }

  /** A new chunk that begins at a position, with what the old one has of it. */
  #renew(position: number, bytes: number, limit: number): void {
    const rest = this.#chunk.subarray(position - this.#from, this.#filled);
    // A whole chunk also for the last few bytes: more records come there. Unless it is only to be searched or checked.
    const chunk = Buffer.allocUnsafeSlow(
      Math.max(bytes, Math.min(READ_CHUNK_BYTES, Math.max(limit - position, 65_536))),
    );
    rest.copy(chunk);
    this.#chunk = chunk;
    this.#filled = rest.length;
    this.#from = position;
  }
}
