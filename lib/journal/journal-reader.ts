import { isErrno } from '../files/is-errno.js';
import { JournalDamageError } from './journal-error.js';
import { SEGMENT_HEADER_BYTES } from './journal-limits.js';
import type { JournalRecord } from './journal-record.js';
import { SegmentDamage, SegmentReader } from './segment-reader.js';
import type { Segment, SegmentTable } from './segment-table.js';

/** Reads a journal from a position on, while it is written and while what it has passed is freed. */
export class JournalReader {
  readonly #table: SegmentTable;
  #position: number;
  #segment: Segment | undefined;
  #reader: SegmentReader | undefined;

  constructor(table: SegmentTable, from: number) {
    this.#table = table;
    this.#position = from;
  }

  /** Where it stands: the next record is here or, behind a gap, later. */
  get position(): number {
    return this.#position;
  }

  /**
   * The next record; undefined when there is none yet that is safe. Reads from the disk at once when it has to.
   * @throws JournalDamageError for a stretch without valid records; the next call goes on behind it
   * @throws the system's error when a file cannot be read; the next call tries again
   */
  next(): JournalRecord | undefined {
    for (;;) {
      const { durable } = this.#table;
      if (this.#position >= durable) return undefined;
      const segment = this.#segmentHere();
      if (segment === undefined) return undefined;
      // One without records, begun after a crash and left by another.
      if (this.#position >= segment.end) continue;
      const limit = Math.min(segment.end, durable);
      if (this.#position >= limit) return undefined;
      const reader = this.#open(segment, limit);
      const found = reader.read(this.#position, limit);
      if (found instanceof SegmentDamage) this.#damaged(segment, found.to, found.reason);
      this.#position = found.next;
      return found;
    }
  }

  /** Lets go of the file it reads. It may go on reading afterwards. */
  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
    this.#segment = undefined;
  }

  /** The segment that holds the next record, with the position moved over a gap that is none. */
  #segmentHere(): Segment | undefined {
    if (this.#segment !== undefined && this.#position < this.#segment.end) return this.#segment;
    this.close();
    const segment = this.#table.at(this.#position);
    if (segment === undefined) return undefined;
    if (this.#position < segment.first) {
      if (this.#position < segment.previousEnd) {
        this.#damaged(segment, segment.first, 'the records before this file are not there');
      }
      this.#position = segment.first;
    }
    this.#segment = segment;
    return segment;
  }

  #open(segment: Segment, limit: number): SegmentReader {
    if (this.#reader !== undefined) return this.#reader;
    if (segment.key === undefined) this.#damaged(segment, limit, 'the header of the file is not readable');
    try {
      this.#reader = new SegmentReader({ path: segment.path, first: segment.first, key: segment.key });
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
      this.#damaged(segment, limit, 'the file is not there');
    }
    return this.#reader;
  }

  /** Passes over what is damaged, and says so. */
  #damaged(segment: Segment, to: number, reason: string): never {
    const from = this.#position;
    this.#position = to;
    throw new JournalDamageError({
      kind: 'lost',
      file: segment.path,
      offset: Math.max(0, SEGMENT_HEADER_BYTES + from - segment.first),
      bytes: to - from,
      from,
      to,
      reason,
    });
  }
}
