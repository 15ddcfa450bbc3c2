import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { datedDirectory, dayOf, isSameDay, type LocalDay } from './local-day.js';

/** Where one output stream lives (rules-and-alerts.md 7.8). */
export type OutputFileOptions = {
  /** Directory of the live name, for example `{home}/logs/alerts`. */
  readonly directory: string;
  /** Live name, a hard link to the current dated file, for example `alerts.json`. */
  readonly liveName: string;
  /** Dated files are `<stem>-DD[-NNN].<extension>` below `YYYY/Mon`. */
  readonly stem: string;
  readonly extension: string;
  /** What closes a record. A tail without it was torn by a crash and is cut when the file is opened again. */
  readonly recordEnd: '\n' | '\n\n';
  /** A part larger than this (bytes) is not continued at start; 0 = no limit. */
  readonly maxBytes: number;
  /** Told when a torn tail was cut. */
  readonly onTornTail?: (path: string, bytes: number) => void;
};

const DIRECTORY_MODE = 0o770;
const FILE_MODE = 0o640;
/** Three digits of the part number; a day that would need more keeps writing to the last part. */
const MAX_PART = 999;
/** How far back a torn tail is searched: a record is at most a 64 KiB event in a few copies. */
const TAIL_BYTES = 4 * 1024 * 1024;

/**
 * An append-only output that continues the newest part of its day, is reachable under a live name, and moves on by
 * day or to the next part. Records are byte strings (one char code a byte) and reach the file at `flush`, in one
 * write where the system takes it. Not for several processes: `position` counts this writer's bytes.
 */
export class OutputFile {
  readonly #options: OutputFileOptions;
  #day: LocalDay;
  #part = 0;
  #fd = -1;
  #path = '';
  #flushed = 0;
  #pending: string[] = [];
  #pendingBytes = 0;
  /** What a failed write left over; goes out before anything else. */
  #rest: Buffer | undefined;

  /** @throws Error of the file system when the directory or file cannot be made. */
  constructor(options: OutputFileOptions, now: Date) {
    this.#options = options;
    this.#day = dayOf(now);
    this.#part = this.#newestPart();
    this.#open();
    if (options.maxBytes > 0 && this.#flushed > options.maxBytes) this.nextPart();
  }

  /** Path of the dated file written now. */
  get path(): string {
    return this.#path;
  }

  /** Bytes of the dated file once everything appended so far is flushed. */
  get position(): number {
    return this.#flushed + this.#pendingBytes + (this.#rest?.length ?? 0);
  }

  /** Whether everything appended has been handed to the file system. */
  get isFlushed(): boolean {
    return this.#pendingBytes === 0 && this.#rest === undefined;
  }

  /** Adds one record (a byte string that ends with `recordEnd`). Nothing is written before `flush`. */
  append(record: string): void {
    this.#pending.push(record);
    this.#pendingBytes += record.length;
  }

  /**
   * Hands everything appended to the file system.
   * @throws the system's error (for example ENOSPC); what was not written stays and goes first the next time, so
   *   that a retry neither loses nor repeats a byte.
   */
  flush(): void {
    if (this.#pendingBytes > 0) {
      const fresh = Buffer.from(
        this.#pending.length === 1 ? (this.#pending[0] ?? '') : this.#pending.join(''),
        'latin1',
      );
      this.#rest = this.#rest === undefined ? fresh : Buffer.concat([this.#rest, fresh]);
      this.#pending = [];
      this.#pendingBytes = 0;
    }
    if (this.#fd < 0 && this.#rest !== undefined) this.#open();
    while (this.#rest !== undefined) {
      const written = this.#write(this.#rest);
      this.#flushed += written;
      this.#rest = written < this.#rest.length ? this.#rest.subarray(written) : undefined;
    }
  }

  /**
   * Moves to the file of another day. Flushes first; see `flush` for errors. Within the same day it only opens what could
   * not be opened before.
   */
  switchDay(now: Date): void {
    const day = dayOf(now);
    if (isSameDay(day, this.#day)) {
      // The disk may have been full when the day or part changed.
      if (this.#fd < 0) this.#open();
      return;
    }
    this.#close();
    this.#day = day;
    this.#part = this.#newestPart();
    this.#open();
  }

  /** Moves to the next `-NNN` part of the day. Flushes first. An empty file is kept. */
  nextPart(): void {
    this.flush();
    if (this.#flushed === 0 || this.#part >= MAX_PART) return;
    this.#close();
    this.#part += 1;
    this.#open();
  }

  /** Flushes and closes. The live name stays. */
  close(): void {
    this.#close();
  }

  #write(bytes: Buffer): number {
    try {
      return writeSync(this.#fd, bytes);
    } catch (error) {
      // The system's error of a descriptor does not name its file, and whoever reads it must know which disk is full.
      throw error instanceof Error ? Object.assign(error, { path: this.#path }) : error;
    }
  }

  #fileName(part: number): string {
    const day = String(this.#day.day).padStart(2, '0');
    const suffix = part === 0 ? '' : `-${String(part).padStart(3, '0')}`;
    return `${this.#options.stem}-${day}${suffix}.${this.#options.extension}`;
  }

  #newestPart(): number {
    const directory = join(this.#options.directory, datedDirectory(this.#day));
    if (!existsSync(directory)) return 0;
    const names = new Set(readdirSync(directory));
    for (let part = MAX_PART; part > 0; part -= 1) {
      if (names.has(this.#fileName(part))) return part;
    }
    return 0;
  }

  #open(): void {
    const directory = join(this.#options.directory, datedDirectory(this.#day));
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    this.#path = join(directory, this.#fileName(this.#part));
    this.#fd = openSync(this.#path, 'a+', FILE_MODE);
    try {
      this.#flushed = fstatSync(this.#fd).size;
      this.#cutTornTail();
      this.#relink();
    } catch (error) {
      // All of it or nothing: the next flush begins again here.
      closeSync(this.#fd);
      this.#fd = -1;
      throw error;
    }
  }

  #relink(): void {
    const live = join(this.#options.directory, this.#options.liveName);
    const temporary = `${live}.new`;
    if (existsSync(temporary)) unlinkSync(temporary);
    linkSync(this.#path, temporary);
    renameSync(temporary, live);
    // rename(2) of two links to one inode does nothing and leaves both.
    if (existsSync(temporary)) unlinkSync(temporary);
  }

  #cutTornTail(): void {
    if (this.#flushed === 0) return;
    const end = Buffer.from(this.#options.recordEnd, 'latin1');
    const length = Math.min(this.#flushed, TAIL_BYTES);
    const tail = Buffer.alloc(length);
    readSync(this.#fd, tail, 0, length, this.#flushed - length);
    const last = tail.lastIndexOf(end);
    if (last < 0 && length < this.#flushed) return;
    const keep = last < 0 ? 0 : last + end.length;
    if (keep === length) return;
    const cut = length - keep;
    ftruncateSync(this.#fd, this.#flushed - cut);
    this.#flushed -= cut;
    this.#options.onTornTail?.(this.#path, cut);
  }

  #close(): void {
    if (this.#fd < 0) return;
    this.flush();
    closeSync(this.#fd);
    this.#fd = -1;
    if (this.#flushed === 0) rmSync(this.#path, { force: true });
    this.#flushed = 0;
  }
}
