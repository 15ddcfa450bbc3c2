import { ifPresent } from '../files/if-present.js';
import { DurableMark } from './durable-mark.js';
import type { DamageReport } from './journal-error.js';
import { MAX_SEGMENT_BYTES, MAX_SYNC_MS, MIN_SEGMENT_BYTES, MIN_SEGMENTS } from './journal-limits.js';
import { JournalReader } from './journal-reader.js';
import { JournalWriter, type RecordPosition, type SyncPolicy, type WriterCounters } from './journal-writer.js';
import { NewestSegment, type OpenSegment } from './newest-segment.js';
import { recoverSegments } from './recover-segments.js';
import { type JournalFile, type JournalFiles, systemFiles } from './segment-file.js';
import { type Segment, SegmentTable } from './segment-table.js';

/** How a journal is kept. */
export type JournalOptions = {
  /** Made when it is not there. Of one process at a time: whoever opens it sees to that. */
  readonly directory: string;
  /** `batch`, `never`, or 1 to 1000 milliseconds. */
  readonly sync: SyncPolicy;
  /** A segment is followed by the next at this size; 4 KiB to 1 GiB, and at most a quarter of `maxBytes`. */
  readonly segmentBytes: number;
  /** Bytes of all files at which appends are refused. */
  readonly maxBytes: number;
  /** Position up to which the records are not needed any more, from a checkpoint. Positions go on behind it. */
  readonly committed?: number;
  /** Told at open what of the newest records is damaged; damage further back is the readers' to find. */
  readonly onDamage: (report: DamageReport) => void;
  /** Told what failed besides an append: cutting, deleting, closing, beginning a segment at open. */
  readonly onTrouble?: (error: unknown) => void;
  /** For tests. */
  readonly files?: JournalFiles;
};

/** Counters for people; those of the writer count since `open`. */
export type JournalCounters = Readonly<WriterCounters> & {
  /** Bytes of all files, and how many there are. */
  readonly bytes: number;
  readonly segments: number;
};

/**
 * A log that is only appended to, in segments that are deleted when nobody needs them (architecture.md 4 "Journal and
 * checkpoint"). Positions are bytes since the first record ever; they only grow and are never used twice, over crashes,
 * too. An append is acknowledged when its record is safe by the sync policy; from then on it is read back after
 * anything short of damage of the disk, which is found by checksums and reported.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #files: JournalFiles;
  readonly #table: SegmentTable;
  readonly #writer: JournalWriter;
  #freeing: Promise<void> = Promise.resolve();

  private constructor(options: JournalOptions, files: JournalFiles, table: SegmentTable, writer: JournalWriter) {
    this.#options = options;
    this.#files = files;
    this.#table = table;
    this.#writer = writer;
  }

  /**
   * Opens the journal of a directory, or begins one. A disk that takes nothing does not hinder it: what is there can be
   * read, and appends try again.
   * @throws RangeError for options out of their range
   * @throws the system's error when what is there cannot be read
   */
  static async open(options: JournalOptions): Promise<Journal> {
    const { directory, sync, maxBytes, committed = 0, onDamage, onTrouble = () => {} } = options;
    checkRange('sync', typeof sync === 'number' ? sync : 1, 1, MAX_SYNC_MS);
    checkRange('segmentBytes', options.segmentBytes, MIN_SEGMENT_BYTES, MAX_SEGMENT_BYTES);
    checkRange('maxBytes', maxBytes, MIN_SEGMENT_BYTES * MIN_SEGMENTS, Number.MAX_SAFE_INTEGER);
    checkRange('committed', committed, 0, Number.MAX_SAFE_INTEGER);
    const segmentBytes = Math.min(options.segmentBytes, Math.floor(maxBytes / MIN_SEGMENTS));
    const files = options.files ?? systemFiles;
    const mark = new DurableMark(directory, onTrouble);
    const found = recoverSegments(directory, { marked: mark.read(), committed });
    if (found.damage !== undefined) onDamage(found.damage);
    const table = new SegmentTable(found.segments, found.nextPosition);
    const storage = { directory, isSynced: sync !== 'never', files, onTrouble };
    const open = found.needsSegment ? undefined : await openNewest(table.newest, files, onTrouble);
    const newest = new NewestSegment({ ...storage, begun: found.begun }, table, open);
    const writer = new JournalWriter({ directory, sync, segmentBytes, maxBytes, mark, onTrouble }, table, newest);
    // Where a segment without records begins is no mark: there may be a cut before it.
    if (table.newest !== undefined && table.newest.end > table.newest.first) mark.write(table.newest.end);
    if (open === undefined) await newest.begin().catch(onTrouble);
    return new Journal(options, files, table, writer);
  }

  /** Position of the oldest record there is; `end` when there is none. */
  get start(): number {
    return this.#table.start;
  }

  /** Position of the next record: at the earliest, as a failure can move it on. */
  get end(): number {
    return this.#table.end;
  }

  /** Position behind the last record that is safe: readers go up to here. */
  get durable(): number {
    return this.#table.durable;
  }

  get counters(): JournalCounters {
    return { ...this.#writer.counters, bytes: this.#table.bytes, segments: this.#table.count };
  }

  /**
   * Appends a record. Concurrent calls keep their order, share writes and syncs, and need not be awaited one by one.
   * The payload must not change before this has settled.
   * @param kind 0 to 65535, the caller's own
   * @param writtenAt epoch milliseconds
   * @returns where it is, when it is safe by the sync policy
   * @throws JournalFullError when the size limit is reached; nothing that is needed is ever deleted for room
   * @throws the system's error when it could not be kept; it then does not count, and later appends try again
   */
  append(kind: number, payload: Buffer, writtenAt: number): Promise<RecordPosition> {
    return this.#writer.append(kind, payload, writtenAt);
  }

  /** Reads from a position on: of a record, `start`, `end`, or a checkpoint's. To be closed after use. */
  reader(from: number): JournalReader {
    return new JournalReader(this.#table, from);
  }

  /**
   * Deletes segments whose records are all before a position, oldest first; never the newest segment. What cannot be
   * deleted is reported as trouble, and tried again the next time.
   */
  free(before: number): void {
    const segments = this.#table.retire(before);
    this.#freeing = this.#freeing.then(async () => {
      for (const segment of segments) {
        try {
          await ifPresent(() => this.#files.remove(segment.path));
        } catch (error) {
          this.#options.onTrouble?.(error);
          return;
        }
        this.#table.remove(segment);
      }
    });
  }

  /** Makes safe what was appended and lets go of the files. */
  async close(): Promise<void> {
    await this.#writer.close();
    await this.#freeing;
  }
}

/** The newest segment, to go on with; undefined when it takes nothing. */
async function openNewest(
  segment: Segment | undefined,
  files: JournalFiles,
  onTrouble: (error: unknown) => void,
): Promise<OpenSegment | undefined> {
  if (segment === undefined) return undefined;
  let file: JournalFile | undefined;
  try {
    file = await files.open(segment.path, false);
    // Whole records that nobody was told about are read from now on: they must be as safe as the others.
    await file.sync();
    return { segment, file };
  } catch (error) {
    onTrouble(error);
    await file?.close().catch(onTrouble);
    return undefined;
  }
}

function checkRange(name: string, value: number, least: number, most: number): void {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} of the journal is ${least} to ${most}, not ${value}`);
  }
}
