import { dirname, join } from 'node:path';
import { ifPresent } from '../files/if-present.js';
import { isErrno } from '../files/is-errno.js';
import { SEGMENT_HEADER_BYTES } from './journal-limits.js';
import type { JournalFile, JournalFiles } from './segment-file.js';
import { encodeSegmentHeader, newSegmentKey, segmentFileName } from './segment-header.js';
import type { Segment, SegmentTable } from './segment-table.js';

/** A segment that is open for writing. */
export type OpenSegment = { readonly segment: Segment; readonly file: JournalFile };

export type NewestSegmentOptions = {
  readonly directory: string;
  /** Whether new files and their names are made safe before they are used. */
  readonly isSynced: boolean;
  /** A file that is removed once a segment is begun: see `RecoveredSegments`. */
  readonly begun?: string | undefined;
  readonly files: JournalFiles;
  readonly onTrouble: (error: unknown) => void;
};

/** The file of the segment was deleted or moved away: what is written to it would never be read again. */
export class SegmentRemovedError extends Error {
  override readonly name = 'SegmentRemovedError';
  readonly code = 'ENOENT';

  constructor(readonly path: string) {
    super(`${path}: the file is not there any more`);
  }
}

/** The end of the journal on the disk: the segment that is written, if there is one, and the next one. */
export class NewestSegment {
  readonly #options: NewestSegmentOptions;
  readonly #table: SegmentTable;
  #open: OpenSegment | undefined;
  /** Holds remains of a failed write or of a crash, to be cut when the segment behind it is there. */
  #remains: Segment | undefined;
  /** See `NewestSegmentOptions`. */
  #begun: string | undefined;

  /** @param open the newest segment of the table, when it can go on */
  constructor(options: NewestSegmentOptions, table: SegmentTable, open: OpenSegment | undefined) {
    this.#options = options;
    this.#table = table;
    this.#open = open;
    this.#begun = options.begun;
    if (open === undefined) this.#remains = table.newest;
  }

  /** The segment that is written; undefined when the next record begins one. */
  get segment(): Segment | undefined {
    return this.#open?.segment;
  }

  /**
   * Writes at the end of the segment.
   * @throws the system's error: a part may be written; SegmentRemovedError
   */
  async write(buffers: readonly Buffer[], bytes: number): Promise<void> {
    const { segment, file } = this.#opened();
    await file.write(buffers, SEGMENT_HEADER_BYTES + segment.end - segment.first);
    if (!file.isInPlace()) throw new SegmentRemovedError(segment.path);
    segment.end += bytes;
    segment.bytes += bytes;
    this.#table.end = segment.end;
  }

  /** @throws the system's error: what was written is then not to be trusted; SegmentRemovedError */
  async sync(): Promise<void> {
    const { segment, file } = this.#opened();
    await file.sync();
    if (!file.isInPlace()) throw new SegmentRemovedError(segment.path);
  }

  /** Cuts off what a failed write left behind the last record. @throws the system's error */
  async cutBack(): Promise<void> {
    const { segment, file } = this.#opened();
    await file.truncate(SEGMENT_HEADER_BYTES + segment.end - segment.first);
  }

  /** Lets go of the segment, which is complete; the next record begins another. */
  async finish(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.file.close().catch(this.#options.onTrouble);
  }

  /**
   * Ends the segment at its last safe record; the next record begins another.
   * @param next position of the next record, behind all that was ever tried
   */
  async abandon(next: number): Promise<void> {
    const { segment } = this.#opened();
    this.#table.end = next;
    segment.end = Math.min(segment.end, Math.max(segment.first, this.#table.durable));
    // Where it can be: a crash before the next segment is there would find what is refused now. Then the remains wait.
    const isCut = await this.cutBack().then(
      () => true,
      () => false,
    );
    await this.finish();
    // The only file stays, if it holds nothing: a directory without any is one from which somebody took them.
    const isNeedless = segment.end === segment.first && (!isCut || this.#table.size > 1);
    if (isNeedless && (await this.#isRemoved(segment))) this.#table.remove(segment);
    else this.#remains = segment;
  }

  /** A disk that fails again and again must not leave a file without records each time. */
  async #isRemoved({ path }: Segment): Promise<boolean> {
    try {
      await this.#options.files.remove(path);
    } catch (error) {
      return isErrno(error, 'ENOENT');
    }
    return true;
  }

  /** Begins a segment at the end of the table. @throws the system's error; nothing has changed then */
  async begin(): Promise<void> {
    const { directory, files, isSynced } = this.#options;
    const isNew = files.makeDirectory(directory);
    const first = this.#table.end;
    const last = this.#table.newest;
    if (last?.first === first) {
      // It holds nothing and could not be opened: the new file takes its place.
      this.#table.remove(last);
      this.#remains = undefined;
    }
    const previousEnd = this.#table.newest?.end ?? this.#table.durable;
    const path = join(directory, segmentFileName(first));
    const key = newSegmentKey();
    const file = await this.#create(path);
    try {
      await file.write([encodeSegmentHeader({ first, previousEnd, key })], 0);
      if (isSynced) {
        await file.sync();
        await files.syncDirectory(directory);
        if (isNew) await files.syncDirectory(dirname(directory));
      }
    } catch (error) {
      await file.close().catch(() => {});
      // The only one stays, and is taken the next time.
      if (this.#table.size > 0) await files.remove(path).catch(() => {});
      throw error;
    }
    const segment: Segment = { path, first, previousEnd, key, end: first, bytes: SEGMENT_HEADER_BYTES };
    this.#table.add(segment);
    this.#open = { segment, file };
    await this.#cutRemains();
    await this.#removeBegun(path);
  }

  /** Makes a file. One of that name that is not in the table holds nothing, as an attempt that failed has left it: it is taken. */
  async #create(path: string): Promise<JournalFile> {
    const { files } = this.#options;
    try {
      return await files.open(path, true);
    } catch (error) {
      if (!isErrno(error, 'EEXIST') || this.#table.has(path)) throw error;
    }
    try {
      return await this.#emptied(path);
    } catch {
      // It may be of somebody else, or no file at all.
      await files.remove(path);
      return files.open(path, true);
    }
  }

  async #emptied(path: string): Promise<JournalFile> {
    const file = await this.#options.files.open(path, false);
    try {
      await file.truncate(0);
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    return file;
  }

  /** The new segment's header says already where the records before it end: cutting only gives the space back. */
  async #cutRemains(): Promise<void> {
    const segment = this.#remains;
    this.#remains = undefined;
    if (segment?.key === undefined) return;
    const size = SEGMENT_HEADER_BYTES + segment.end - segment.first;
    try {
      await ifPresent(async () => {
        await this.#options.files.truncate(segment.path, size);
        segment.bytes = size;
      });
    } catch (error) {
      this.#options.onTrouble(error);
    }
  }

  /** @param path of the segment that is begun, which may have taken its place: then that is what it is from now on */
  async #removeBegun(path: string): Promise<void> {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun === undefined || begun === path) return;
    try {
      await ifPresent(() => this.#options.files.remove(begun));
    } catch (error) {
      this.#begun = begun;
      this.#options.onTrouble(error);
    }
  }

  #opened(): OpenSegment {
    if (this.#open === undefined) throw new Error('no segment of the journal is open');
    return this.#open;
  }
}
