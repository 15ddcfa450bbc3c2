import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ifPresentSync } from '../files/if-present.js';
import { MONTH_NAMES } from '../time/local-day.js';
import type { DatedName } from './dated-files.js';
import { GzipCursor } from './gzip-cursor.js';

/** A place in a stream: a dated file, relative to the directory of the stream, and a byte offset in it. */
export type RecordPosition = { readonly file: string; readonly offset: number };

export type RecordPage = {
  /** Whole records, JSON texts in order of writing. */
  readonly records: readonly string[];
  /** Offset behind each of them in the file of `next`: a consumer that got on to one of them reads on there. */
  readonly ends: readonly number[];
  /** Where to read on; keep it once the records of the page have been dealt with. */
  readonly next: RecordPosition;
};

/** Bytes looked at in one read: a page is bounded whatever `max` says. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** A record as a rule, and what is looked at at least. */
const RECORD_BYTES = 1024;
const LEAST_BYTES = 64 * 1024;
/** A record longer than this is passed over: a page with it would not fit into an answer on the bus. */
const MAX_RECORD_BYTES = 12 * 1024 * 1024;
/** The same for a compressed file, whose reader keeps what it has unpacked and not given yet. */
const UNPACKED_PAGE_BYTES = 512 * 1024;
/** Compressed files kept open for readers in the middle of them; one read anew is unpacked from its beginning. */
const MAX_CURSORS = 8;
const NEWLINE = 0x0a;
const COMPRESSED = '.gz';

/** Whole lines at the beginning of a buffer. */
type ReadLines = {
  readonly records: string[];
  /** Offset behind each in the buffer. */
  readonly ends: number[];
  /** Bytes they take. */
  readonly bytes: number;
};

/** What one file gives: `records` is empty only at its end. */
type FilePage = RecordPage | 'missing';

/**
 * Reads the JSON lines of dated files back in the order they were written, from any position a consumer has kept (architecture.md 4
 * "Consumers of alerts"): the files are the stream, so it survives everything they survive. A file that was
 * compressed meanwhile is read in that form; positions stay those of the plain one.
 */
export class RecordStream {
  readonly #directory: string;
  /** Plain names of the files of a month. */
  readonly #fileName: RegExp;
  readonly #onSkipped: (message: string) => void;
  /** Compressed files in the middle of which a reader may go on, the one used last at the end. */
  #cursors: { readonly file: string; readonly cursor: GzipCursor }[] = [];

  /**
   * @param files what the files are called, and where they lie
   * @param onSkipped told when records that are there cannot be given: a damaged file, or one record that is too long
   */
  constructor({ directory, stem, extension }: DatedName, onSkipped: (message: string) => void = () => {}) {
    this.#directory = directory;
    this.#fileName = new RegExp(`^${stem}-(\\d{2})(?:-(\\d{3}))?\\.${extension}$`);
    this.#onSkipped = onSkipped;
  }

  /** The position behind the last whole record. */
  async end(): Promise<RecordPosition> {
    const last = this.#files().at(-1);
    if (last === undefined) return { file: '', offset: 0 };
    const offset = this.#wholeBytes(last) ?? (await this.#unpackedBytes(last));
    return { file: last, offset };
  }

  /** The position before the oldest record that is kept. */
  start(): RecordPosition {
    return { file: this.#files()[0] ?? '', offset: 0 };
  }

  /**
   * The next records after a position.
   * @param max 1 or more records at most
   * @throws RangeError when the position names no file of the stream's form or lies beyond the file's end
   */
  async read(after: RecordPosition, max: number): Promise<RecordPage> {
    if (after.file !== '' && this.#sortKey(after.file) < 0) throw new RangeError(`not a position: '${after.file}'`);
    let position = after;
    for (;;) {
      const page = await this.#readFile(position, max);
      if (page.records.length > 0) return page;
      const following = this.following(position);
      if (following === undefined) return page;
      position = following;
    }
  }

  /**
   * Bytes behind a position: what a reader that stands there has before it. Compressed files count as large as they lie
   * on the disk.
   */
  bytesAfter(position: RecordPosition): number {
    const from = this.#sortKey(position.file);
    let bytes = 0;
    for (const file of this.#files()) {
      const order = this.#sortKey(file) - from;
      if (order < 0) continue;
      const path = join(this.#directory, file);
      const found = ifPresentSync(() => statSync(path)) ?? ifPresentSync(() => statSync(path + COMPRESSED));
      bytes += Math.max(0, (found?.size ?? 0) - (order === 0 ? position.offset : 0));
    }
    return bytes;
  }

  /** The position before the file behind that of a position; undefined where there is none. */
  following(position: RecordPosition): RecordPosition | undefined {
    const file = this.#files().find((candidate) => this.#sortKey(candidate) > this.#sortKey(position.file));
    return file === undefined ? undefined : { file, offset: 0 };
  }

  /** Gives up the files that readers had open. */
  close(): void {
    for (const { cursor } of this.#cursors) cursor.close();
    this.#cursors = [];
  }

  async #readFile(position: RecordPosition, max: number): Promise<RecordPage> {
    if (position.file === '') return nothing(position);
    const page = this.#readPlain(position, max);
    if (page !== 'missing') return page;
    const unpacked = await this.#readCompressed(position, max);
    // A file that is gone in both forms was removed on purpose: the stream goes on in the next one.
    return unpacked === 'missing' ? nothing(position) : unpacked;
  }

  #readPlain(position: RecordPosition, max: number): FilePage {
    const fd = ifPresentSync(() => openSync(join(this.#directory, position.file), 'r'));
    if (fd === undefined) return 'missing';
    try {
      const size = fstatSync(fd).size;
      let { offset } = position;
      if (offset > size) throw tooFar(position, size);
      // What is read beyond the last record that is wanted is read again for the next page.
      const first = Math.min(PAGE_BYTES, Math.max(LEAST_BYTES, max * RECORD_BYTES));
      for (let wanted = first; ;) {
        const buffer = Buffer.allocUnsafe(Math.min(wanted, size - offset));
        const filled = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, offset));
        const lines = takeLines(filled, max);
        if (lines.records.length > 0 || filled.length < wanted) return pageAt({ file: position.file, offset }, lines);
        if (wanted < MAX_RECORD_BYTES) {
          wanted = wanted < PAGE_BYTES ? PAGE_BYTES : MAX_RECORD_BYTES;
          continue;
        }
        const behind = endOfLine(fd, offset + filled.length, size);
        if (behind === undefined) return nothing({ file: position.file, offset });
        this.#tooLong(position.file, offset);
        offset = behind;
        wanted = first;
      }
    } finally {
      closeSync(fd);
    }
  }

  async #readCompressed(position: RecordPosition, max: number): Promise<FilePage> {
    const { file } = position;
    const path = join(this.#directory, file + COMPRESSED);
    const cursor = this.#takeCursor(position) ?? (existsSync(path) ? new GzipCursor(path) : undefined);
    if (cursor === undefined) return 'missing';
    try {
      await cursor.skipTo(position.offset);
      if (cursor.offset < position.offset) throw tooFar(position, cursor.offset);
      for (let wanted = UNPACKED_PAGE_BYTES; ;) {
        const filled = await cursor.peek(wanted);
        const lines = takeLines(filled, max);
        if (lines.records.length > 0) {
          const page = pageAt({ file, offset: cursor.offset }, lines);
          cursor.skip(lines.bytes);
          this.#keepCursor(file, cursor);
          return page;
        }
        if (filled.length < wanted) {
          cursor.close();
          return nothing({ file, offset: cursor.offset });
        }
        if (wanted < MAX_RECORD_BYTES) {
          wanted = MAX_RECORD_BYTES;
          continue;
        }
        this.#tooLong(file, cursor.offset);
        await skipLine(cursor);
        wanted = UNPACKED_PAGE_BYTES;
      }
    } catch (error) {
      cursor.close();
      if (error instanceof RangeError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      this.#onSkipped(`'${file}${COMPRESSED}' cannot be read on after byte ${String(cursor.offset)}: ${reason}`);
      return nothing({ file, offset: cursor.offset });
    }
  }

  #tooLong(file: string, offset: number): void {
    this.#onSkipped(
      `The record at byte ${String(offset)} of '${file}' is longer than ${String(MAX_RECORD_BYTES)} bytes and was not handed on`,
    );
  }

  #takeCursor({ file, offset }: RecordPosition): GzipCursor | undefined {
    const index = this.#cursors.findIndex((kept) => kept.file === file && kept.cursor.offset === offset);
    return index < 0 ? undefined : this.#cursors.splice(index, 1)[0]?.cursor;
  }

  #keepCursor(file: string, cursor: GzipCursor): void {
    this.#cursors.push({ file, cursor });
    if (this.#cursors.length > MAX_CURSORS) this.#cursors.shift()?.cursor.close();
  }

  /** Bytes up to the last line end of a plain file; undefined when there is none of this name. */
  #wholeBytes(file: string): number | undefined {
    const fd = ifPresentSync(() => openSync(join(this.#directory, file), 'r'));
    if (fd === undefined) return undefined;
    try {
      const buffer = Buffer.alloc(PAGE_BYTES);
      for (let end = fstatSync(fd).size; end > 0;) {
        const from = Math.max(0, end - buffer.length);
        const length = readSync(fd, buffer, 0, end - from, from);
        const last = buffer.lastIndexOf(NEWLINE, length - 1);
        if (length > 0 && last >= 0) return from + last + 1;
        end = from;
      }
      return 0;
    } finally {
      closeSync(fd);
    }
  }

  async #unpackedBytes(file: string): Promise<number> {
    const cursor = new GzipCursor(join(this.#directory, file + COMPRESSED));
    try {
      await cursor.skipTo(Infinity);
    } catch {
      // Damaged: what can be read of it is what there is.
    } finally {
      cursor.close();
    }
    return cursor.offset;
  }

  /** The stream's files, under their plain names, in order. */
  #files(): string[] {
    const files = new Set<string>();
    if (!existsSync(this.#directory)) return [];
    for (const year of readdirSync(this.#directory)) {
      if (!/^\d{4}$/.test(year)) continue;
      for (const month of readdirSync(join(this.#directory, year))) {
        if (!MONTH_NAMES.some((name) => name === month)) continue;
        for (const entry of readdirSync(join(this.#directory, year, month))) {
          const name = entry.endsWith(COMPRESSED) ? entry.slice(0, -COMPRESSED.length) : entry;
          if (this.#fileName.test(name)) files.add(`${year}/${month}/${name}`);
        }
      }
    }
    return [...files].sort((a, b) => this.#sortKey(a) - this.#sortKey(b));
  }

  /** Order of writing: by year, month, day, part. -1 for what is no file of the stream, such as the empty name. */
  #sortKey(file: string): number {
    const [year = '', month = '', name = '', ...more] = file.split('/');
    const parts = this.#fileName.exec(name);
    const monthNumber = MONTH_NAMES.findIndex((candidate) => candidate === month);
    if (parts === null || !/^\d{4}$/.test(year) || monthNumber < 0 || more.length > 0) return -1;
    return ((Number(year) * 12 + monthNumber) * 31 + Number(parts[1]) - 1) * 1000 + Number(parts[2] ?? 0);
  }
}

function tooFar({ file }: RecordPosition, size: number): RangeError {
  return new RangeError(`'${file}' has only ${String(size)} bytes`);
}

function nothing(next: RecordPosition): RecordPage {
  return { records: [], ends: [], next };
}

/** The page of lines that were read from a place on. */
function pageAt({ file, offset }: RecordPosition, { records, ends, bytes }: ReadLines): RecordPage {
  return { records, ends: ends.map((end) => offset + end), next: { file, offset: offset + bytes } };
}

function takeLines(buffer: Buffer, max: number): ReadLines {
  const records: string[] = [];
  const ends: number[] = [];
  let bytes = 0;
  while (records.length < max && bytes < PAGE_BYTES) {
    const end = buffer.indexOf(NEWLINE, bytes);
    if (end < 0) break;
    records.push(buffer.toString('utf8', bytes, end));
    bytes = end + 1;
    ends.push(bytes);
  }
  return { records, ends, bytes };
}

/** Offset behind the first line end from an offset on; undefined when the file has none there. */
function endOfLine(fd: number, from: number, size: number): number | undefined {
  const buffer = Buffer.alloc(PAGE_BYTES);
  for (let offset = from; offset < size;) {
    const length = readSync(fd, buffer, 0, buffer.length, offset);
    if (length === 0) return undefined;
    const end = buffer.subarray(0, length).indexOf(NEWLINE);
    if (end >= 0) return offset + end + 1;
    offset += length;
  }
  return undefined;
}

/** Goes past the next line end, or to the end. */
async function skipLine(cursor: GzipCursor): Promise<void> {
  for (;;) {
    const buffer = await cursor.peek(1);
    if (buffer.length === 0) return;
    const end = buffer.indexOf(NEWLINE);
    cursor.skip(end < 0 ? buffer.length : end + 1);
    if (end >= 0) return;
  }
}
