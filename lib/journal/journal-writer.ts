import type { DurableMark } from './durable-mark.js';
import { JournalFullError } from './journal-error.js';
import {
  MAX_GROUP_BYTES,
  MAX_GROUP_RECORDS,
  MAX_KIND,
  MAX_PAYLOAD_BYTES,
  MAX_QUEUED_BYTES,
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
} from './journal-limits.js';
import { putRecordHeader } from './journal-record.js';
import { type NewestSegment, SegmentRemovedError } from './newest-segment.js';
import type { Segment, SegmentTable } from './segment-table.js';

/**
 * When an append counts as safe: after its own sync, after one that is made at most once in so many milliseconds, or when it
 * is written. An append that comes alone is synced at once.
 */
export type SyncPolicy = 'batch' | 'never' | number;

/** Where a record was put. */
export type RecordPosition = { readonly position: number; readonly next: number };

/** What a writer has done since it was made. */
export type WriterCounters = {
  /** Records that are safe, and their bytes with headers. */
  appended: number;
  bytesAppended: number;
  /** Records that were refused or could not be kept. */
  refused: number;
  writes: number;
  syncs: number;
  /** Writes and syncs that failed. */
  failures: number;
};

export type WriterOptions = {
  readonly directory: string;
  readonly sync: SyncPolicy;
  readonly segmentBytes: number;
  readonly maxBytes: number;
  readonly mark: DurableMark;
  readonly onTrouble: (error: unknown) => void;
};

type Append = {
  readonly kind: number;
  readonly payload: Buffer;
  readonly writtenAt: number;
  readonly bytes: number;
  /** By the monotonic clock. */
  readonly at: number;
  position: number;
  readonly resolve: (appended: RecordPosition) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * The one writer of a journal. Appends wait in a queue; a loop takes all that are there, writes them with one call,
 * and makes them safe with one sync, while the next ones gather.
 *
 * What fails is taken back: an append that was rejected is in no file that a reader will look at. After a failed write
 * the file is cut to what it held before; where that fails, too, and after any failed sync (the system has then
 * forgotten which pages are on the disk), the segment ends at its last safe record and the next append begins a new
 * one, at a position that was never used.
 */
export class JournalWriter {
  readonly counters: WriterCounters = { appended: 0, bytesAppended: 0, refused: 0, writes: 0, syncs: 0, failures: 0 };
  readonly #options: WriterOptions;
  readonly #table: SegmentTable;
  readonly #newest: NewestSegment;
  #queue: Append[] = [];
  #queuedBytes = 0;
  /** Written, not safe yet. */
  #written: Append[] = [];
  #running: Promise<void> | undefined;
  #wake: () => void = () => {};
  /** When the last sync was begun, by the monotonic clock. */
  #syncedAt = -Infinity;
  #closed = false;

  constructor(options: WriterOptions, table: SegmentTable, newest: NewestSegment) {
    this.#options = options;
    this.#table = table;
    this.#newest = newest;
  }

  append(kind: number, payload: Buffer, writtenAt: number): Promise<RecordPosition> {
    const bytes = RECORD_HEADER_BYTES + payload.length;
    const refusal = this.#refusal(kind, payload, writtenAt, bytes);
    if (refusal !== undefined) {
      this.counters.refused += 1;
      return Promise.reject(refusal);
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ kind, payload, writtenAt, bytes, at: performance.now(), position: 0, resolve, reject });
      this.#queuedBytes += bytes;
      this.#wake();
      this.#running ??= this.#run();
    });
  }

  /** Makes everything safe that was appended, and closes the file. Later appends are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
    await this.#running;
    await this.#newest.finish();
    this.#options.mark.close();
  }

  #refusal(kind: number, payload: Buffer, writtenAt: number, bytes: number): Error | undefined {
    if (this.#closed) return new Error('the journal is closed');
    if (!Number.isInteger(kind) || kind < 0 || kind > MAX_KIND) {
      return new RangeError(`kind of a record is 0 to ${MAX_KIND}`);
    }
    if (!Number.isFinite(writtenAt)) return new RangeError('time of a record is a number');
    if (payload.length > MAX_PAYLOAD_BYTES) {
      return new RangeError(`record has ${payload.length} bytes, ${MAX_PAYLOAD_BYTES} is the limit`);
    }
    if (this.#queuedBytes > 0 && this.#queuedBytes + bytes > MAX_QUEUED_BYTES) {
      return new JournalFullError(`${this.#queuedBytes} bytes wait to be written, ${MAX_QUEUED_BYTES} is the limit`);
    }
    return this.#fullBy(this.#queuedBytes + bytes);
  }

  /** The refusal of so many more bytes, if there is no room for them. */
  #fullBy(bytes: number): JournalFullError | undefined {
    const { directory, maxBytes } = this.#options;
    const held = this.#table.bytes;
    if (held + bytes <= maxBytes) return undefined;
    return new JournalFullError(`${directory} holds ${held} bytes, ${maxBytes} is the limit`);
  }

  async #run(): Promise<void> {
    // Lets the appends of the same turn come along.
    await Promise.resolve();
    while (this.#queue.length > 0 || this.#written.length > 0) {
      if (this.#queue.length > 0) await this.#writeGroup();
      if (this.#written.length === 0) continue;
      const wait = this.#untilSync();
      if (wait <= 0) await this.#sync();
      else if (this.#queue.length === 0) await this.#pause(wait);
    }
    this.#running = undefined;
  }

  /** Milliseconds until what is written has to be synced. */
  #untilSync(): number {
    const { sync } = this.#options;
    const oldest = this.#written[0];
    if (typeof sync !== 'number' || this.#closed || oldest === undefined) return 0;
    return Math.min(oldest.at, this.#syncedAt) + sync - performance.now();
  }

  /** Waits so long, or until something comes. */
  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }

  async #writeGroup(): Promise<void> {
    const { sync, mark } = this.#options;
    let segment: Segment;
    try {
      segment = await this.#segmentFor(this.#queue[0]?.bytes ?? 0);
    } catch (error) {
      this.#failed(error, this.#take(this.#queue.length));
      return;
    }
    const group = this.#take(this.#groupSize(segment));
    const bytes = place(group, segment.end);
    const end = segment.end + bytes;
    try {
      await this.#newest.write(buffersOf(group, segment, this.#table.durable), bytes);
      this.counters.writes += 1;
    } catch (error) {
      // In this order: what was refused must not be there after a crash, as its sender may give it to somebody else.
      await this.#takeBack(end, error);
      this.#failed(error, group);
      return;
    }
    if (sync !== 'never') {
      this.#written.push(...group);
      return;
    }
    this.#table.durable = end;
    mark.write(end);
    this.#settle(group);
  }

  /** Takes the oldest appends out of the queue. */
  #take(count: number): Append[] {
    const group = this.#queue.splice(0, count);
    for (const { bytes } of group) this.#queuedBytes -= bytes;
    return group;
  }

  /** How many of the queue go into one write: at least one. */
  #groupSize(segment: Segment): number {
    const { segmentBytes, maxBytes } = this.#options;
    const room = Math.min(MAX_GROUP_BYTES, segmentBytes - segment.bytes, maxBytes - this.#table.bytes);
    let bytes = 0;
    let count = 0;
    for (const append of this.#queue) {
      bytes += append.bytes;
      if (count > 0 && (bytes > room || count >= MAX_GROUP_RECORDS)) break;
      count += 1;
    }
    return count;
  }

  async #sync(): Promise<void> {
    const group = this.#written;
    const { end } = this.#table;
    this.#syncedAt = performance.now();
    try {
      await this.#newest.sync();
      this.counters.syncs += 1;
    } catch (error) {
      await this.#abandon(end, error);
      return;
    }
    this.#written = [];
    this.#table.durable = end;
    this.#options.mark.write(end);
    this.#settle(group);
  }

  #settle(group: readonly Append[]): void {
    for (const { position, bytes, resolve } of group) {
      this.counters.appended += 1;
      this.counters.bytesAppended += bytes;
      resolve({ position, next: position + bytes });
    }
  }

  #failed(error: unknown, group: readonly Append[]): void {
    if (!(error instanceof JournalFullError)) this.counters.failures += 1;
    this.counters.refused += group.length;
    for (const { reject } of group) reject(error);
  }

  /** After a failed write: the file as it was before, or another one. @param attempted end of what may be written */
  async #takeBack(attempted: number, error: unknown): Promise<void> {
    if (!(error instanceof SegmentRemovedError)) {
      try {
        await this.#newest.cutBack();
        return;
      } catch (cutError) {
        this.#options.onTrouble(cutError);
      }
      // What was written before the failed write may still become safe.
      if (this.#written.length > 0) await this.#sync();
    }
    // Unless the failed sync has done it.
    if (this.#newest.segment !== undefined) await this.#abandon(attempted, error);
    this.#table.end = Math.max(this.#table.end, attempted);
  }

  /** Gives up the segment, and all of it that is not safe. @param next a position behind all that was ever tried */
  async #abandon(next: number, error: unknown): Promise<void> {
    const lost = this.#written;
    this.#written = [];
    // The directory may be another one by now.
    this.#options.mark.close();
    await this.#newest.abandon(next);
    this.#failed(error, lost);
  }

  /** The segment the next record goes to. @throws JournalFullError, or the system's error */
  async #segmentFor(bytes: number): Promise<Segment> {
    const open = this.#newest.segment;
    const isNeeded = open === undefined || !this.#takes(open, bytes);
    const full = this.#fullBy(isNeeded ? SEGMENT_HEADER_BYTES + bytes : bytes);
    if (full !== undefined) throw full;
    if (!isNeeded) return open;
    if (this.#written.length > 0) await this.#sync();
    await this.#newest.finish();
    await this.#newest.begin();
    const { segment } = this.#newest;
    if (segment === undefined) throw new Error('the journal has begun no segment');
    return segment;
  }

  /** Whether a segment has room for a record: an empty one for any. */
  #takes(segment: Segment, bytes: number): boolean {
    return segment.end === segment.first || segment.bytes + bytes <= this.#options.segmentBytes;
  }
}

/** Gives records their positions. @returns bytes of all */
function place(group: readonly Append[], end: number): number {
  let position = end;
  for (const append of group) {
    append.position = position;
    position += append.bytes;
  }
  return position - end;
}

/** Headers and payloads in the order they are written. */
function buffersOf(group: readonly Append[], { first, key }: Segment, durable: number): Buffer[] {
  const headers = Buffer.allocUnsafe(group.length * RECORD_HEADER_BYTES);
  const buffers: Buffer[] = [];
  let at = 0;
  for (const append of group) {
    if (key === undefined) throw new Error('a segment without a key is not written');
    putRecordHeader(headers, at, key, append.position - first, append, durable);
    buffers.push(headers.subarray(at, at + RECORD_HEADER_BYTES));
    if (append.payload.length > 0) buffers.push(append.payload);
    at += RECORD_HEADER_BYTES;
  }
  return buffers;
}
