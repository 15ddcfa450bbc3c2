import { existsSync, linkSync, renameSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { dayOf, isSameDay, type LocalDay } from '../time/local-day.js';
import { AppendFile, type CloseOptions, type FileRepair, type ResumePoint } from './append-file.js';
import { compareDays, compressedPath, datedPath, filesAfter, partsOf } from './dated-files.js';
import type { RecordEnd } from './end-of-records.js';

/** Where one output stream lives (rules-and-alerts.md 7.8). */
export type OutputFileOptions = {
  /** Directory of the live name, for example `{home}/logs/alerts`. */
  readonly directory: string;
  /** Live name, a hard link to the current dated file, for example `alerts.json`; without one a file is made when it gets its first record. */
  readonly liveName: string | undefined;
  /** Dated files are `<stem>-DD[-NNN].<extension>` below `YYYY/Mon`. */
  readonly stem: string;
  readonly extension: string;
  /** What closes a record. A tail without it was torn by a crash and is cut when the file is opened again. */
  readonly recordEnd: RecordEnd;
  /** A part larger than this (bytes) is not continued at start; 0 = no limit. */
  readonly maxBytes: number;
  /** Permission bits of directories that are made, before the umask (default 0770). */
  readonly directoryMode?: number;
  /** Told what was found wrong with a file that is continued. */
  readonly onRepair?: (repair: FileRepair) => void;
  /** Told that a file which replay comes through was compressed or removed: its records count as written. */
  readonly onFinished?: (path: string) => void;
};

/** A dated file and how much of it was written. */
export type DatedLength = { readonly day: LocalDay; readonly part: number; readonly length: number };

/** Where an output stands; plain data for a checkpoint. */
export type OutputFileState = DatedLength & {
  /**
   * Where other days go on, those that lie ahead and those after `since`: a clock that is set back and forth comes to them
   * again, and replay must go on there where the first run did, not where that one has ended.
   */
  readonly others: readonly DatedLength[];
  /** Days after this one that are not in `others` have no file. */
  readonly since: LocalDay;
};

const DIRECTORY_MODE = 0o770;
/** Three digits of the part number; a day that would need more keeps writing to the last part. */
const MAX_PART = 999;
/** Days looked back at when there is no state. */
const DAYS_BACK = 7;
/** Other days remembered in a state, the latest: a clock that wanders further is beyond help. */
const MAX_OTHERS = 20;

/**
 * An append-only output that continues the newest part of its day, is reachable under a live name, and moves on by
 * day or to the next part. Records are byte strings (one char code a byte) and reach the file at `flush`. Opened from
 * a state it takes the same records and moves once more and goes through the same files (see `AppendFile`), so that
 * `position` is the same at each of them as it was in the first run.
 */
export class OutputFile {
  readonly #options: OutputFileOptions;
  #day: LocalDay;
  #part: number;
  #file: AppendFile;
  #isLinked = false;
  #replaying = false;
  /** What replay has left by a switch of the day and may come to again: what its files have beyond is settled at its end. */
  #left: DatedLength[] = [];
  #others: readonly DatedLength[];
  #since: LocalDay;

  /**
   * @param from a moment: continues the newest part of its day; a state: goes on there, in replay until `endReplay`
   * @throws Error of the file system when the directory or file cannot be made.
   */
  constructor(options: OutputFileOptions, from: Date | OutputFileState) {
    this.#options = options;
    if (from instanceof Date) {
      this.#day = dayOf(from);
      this.#part = this.#newestPart(this.#day);
      this.#file = this.#makeFile(this.#day, this.#part);
      this.#since = dayOf(new Date(from.getFullYear(), from.getMonth(), from.getDate() - DAYS_BACK, 12));
      this.#others = [];
      this.#lookAround();
      this.#begin();
      if (options.maxBytes > 0 && this.position > options.maxBytes) this.nextPart();
    } else {
      this.#day = from.day;
      this.#part = from.part;
      this.#others = from.others;
      this.#since = from.since;
      this.#replaying = true;
      this.#file = this.#makeFile(from.day, from.part, this.#resumePoint(from.day, from.part, from.length));
      this.#begin();
    }
  }

  /** Path of the dated file written now. */
  get path(): string {
    return this.#file.path;
  }

  /** Bytes of the dated file once everything appended so far is flushed. */
  get position(): number {
    return this.#file.position;
  }

  /** Whether everything appended has been handed to the file system. */
  get isFlushed(): boolean {
    return this.#file.isFlushed;
  }

  /** Whether it writes the file of this moment's day. */
  isOn(now: Date): boolean {
    return isSameDay(dayOf(now), this.#day);
  }

  /** Where it stands with everything appended so far. A checkpoint may use it once a `sync` begun after it is done. */
  state(): OutputFileState {
    return { day: this.#day, part: this.#part, length: this.position, others: this.#others, since: this.#since };
  }

  /** Adds one record (a byte string that ends with `recordEnd`). Nothing is written before `flush`. */
  append(record: string): void {
    this.#file.append(record);
  }

  /** Adds whole records, bytes `from` up to `to`, exclusive. @param lengths bytes of each */
  addRecords(bytes: Buffer, from: number, to: number, lengths: readonly number[]): void {
    this.#file.addRecords(bytes, from, to, lengths);
  }

  /**
   * Hands everything appended to the file system.
   * @throws the system's error (for example ENOSPC); what was not written stays and goes first the next time, so
   *   that a retry neither loses nor repeats a byte.
   */
  flush(): void {
    if (this.isFlushed) return;
    this.#openAndLink();
    this.#file.flush();
  }

  /**
   * Flushes and waits until everything is on the disk itself; files that were left are there already.
   * @throws the system's error
   */
  async sync(): Promise<void> {
    this.flush();
    await this.#file.sync();
  }

  /**
   * Replay has given everything: what the file has beyond is kept as far as it is whole. A file that was put away
   * meanwhile is not begun anew, the next part is. Flushes first; see `flush` for errors, it can be called again then.
   */
  endReplay(): void {
    if (!this.#replaying) return;
    this.#settleLeft();
    this.#file.endReplay();
    if (this.#file.isFinished) {
      this.#remember();
      this.#enter(this.#day, this.#newestPart(this.#day));
    }
    this.#openAndLink();
    this.#replaying = false;
  }

  /**
   * Moves to the file of another day. Flushes first; see `flush` for errors. Within the same day it only opens what could
   * not be opened before.
   */
  switchDay(now: Date): void {
    const day = dayOf(now);
    if (!isSameDay(day, this.#day)) {
      if (this.#replaying) this.#leaveForNow();
      else this.#leave();
      this.#left = this.#left.filter((left) => !isSameDay(left.day, day));
      const known = this.#others.find((other) => isSameDay(other.day, day));
      if (this.#replaying && (known !== undefined || compareDays(day, this.#since) > 0)) {
        const { part, length } = known ?? { part: 0, length: 0 };
        this.#enter(day, part, this.#resumePoint(day, part, length));
      } else {
        // In replay this is a day that was long past when the clock went back to it. How long its file was is not known, and
        // nothing of it may be cut.
        this.#enter(day, this.#newestPart(day));
      }
    }
    this.#openAndLink();
  }

  /** Moves to the next `-NNN` part of the day. Flushes first. An empty file is kept. */
  nextPart(): void {
    this.flush();
    if (this.position === 0 || this.#part >= MAX_PART) return;
    this.#leave();
    const part = this.#part + 1;
    this.#enter(this.#day, part, this.#replaying ? this.#resumePoint(this.#day, part, 0) : undefined);
    this.#openAndLink();
  }

  /** Flushes, syncs and closes. The live name stays. */
  close({ midway = false }: CloseOptions = {}): void {
    if (midway && this.#replaying) {
      this.#file.close({ midway });
      return;
    }
    this.#settleLeft();
    this.#leave();
  }

  /** Lets go of a file that nothing was appended to, whatever the disk says. */
  giveUp(): void {
    this.#file.giveUp();
  }

  #begin(): void {
    try {
      this.#openAndLink();
    } catch (error) {
      this.giveUp();
      throw error;
    }
  }

  #leave(options?: CloseOptions): void {
    this.#file.close(options);
    // By its own size: what could not even be opened is not ours to remove.
    if (statSync(this.path, { throwIfNoEntry: false })?.size === 0) rmSync(this.path, { force: true });
    this.#remember();
  }

  /** In replay: a later step may come back to this day, and what its file has beyond would be written twice if it counted by now. */
  #leaveForNow(): void {
    this.#leave({ midway: true });
    if (!this.#file.isFinished) this.#left.push({ day: this.#day, part: this.#part, length: this.position });
  }

  /** Keeps what the files that replay left have beyond what it gave, as far as it is whole. Errors as `flush`. */
  #settleLeft(): void {
    for (let left = this.#left[0]; left !== undefined; left = this.#left[0]) {
      const { day, part, length } = left;
      if (existsSync(datedPath(this.#options, day, part))) {
        const file = this.#makeFile(day, part, { length });
        file.endReplay();
        const settled = file.position;
        file.close();
        if (settled > length) this.#addOther({ day, part, length: settled });
      }
      this.#left.shift();
    }
  }

  #enter(day: LocalDay, part: number, resume?: ResumePoint): void {
    this.#file = this.#makeFile(day, part, resume);
    this.#day = day;
    this.#part = part;
    this.#isLinked = false;
  }

  #remember(): void {
    if (this.position > 0) this.#addOther({ day: this.#day, part: this.#part, length: this.position });
  }

  #addOther(added: DatedLength): void {
    const others = [...this.#others.filter((other) => !isSameDay(other.day, added.day)), added];
    others.sort((a, b) => compareDays(a.day, b.day));
    const [oldest] = others;
    if (others.length > MAX_OTHERS && oldest !== undefined) {
      others.shift();
      if (compareDays(oldest.day, this.#since) > 0) this.#since = oldest.day;
    }
    this.#others = others;
  }

  /** Days with files: late ones, and such to come, written when the clock was wrong or in another time zone. */
  #lookAround(): void {
    for (const { day } of filesAfter(this.#options, this.#since)) {
      if (isSameDay(day, this.#day) || this.#others.some((other) => isSameDay(other.day, day))) continue;
      const part = this.#newestPart(day);
      const length = statSync(datedPath(this.#options, day, part), { throwIfNoEntry: false })?.size ?? 0;
      this.#addOther({ day, part, length });
    }
  }

  #makeFile(day: LocalDay, part: number, resume?: ResumePoint): AppendFile {
    const { recordEnd, directoryMode = DIRECTORY_MODE, onRepair } = this.#options;
    return new AppendFile(
      datedPath(this.#options, day, part),
      { recordEnd, directoryMode, ...(onRepair === undefined ? {} : { onRepair }) },
      resume,
    );
  }

  /** How replay takes up a part: a file that is gone was either put away, or lost in a power cut. */
  #resumePoint(day: LocalDay, part: number, length: number): ResumePoint {
    const path = datedPath(this.#options, day, part);
    if (existsSync(path) || !(existsSync(compressedPath(path)) || this.#wasLeft(day, part))) return { length };
    this.#options.onFinished?.(path);
    return { length, isFinished: true };
  }

  /** Whether the first run went on to a file after this one; it was synced before that. */
  #wasLeft(day: LocalDay, part: number): boolean {
    return (
      partsOf(this.#options, day).some((other) => other.part > part) ||
      filesAfter(this.#options, day).some((later) => !this.#others.some((other) => isSameDay(other.day, later.day)))
    );
  }

  /** The part to continue: the newest, or the one after it when that is compressed. */
  #newestPart(day: LocalDay): number {
    const parts = partsOf(this.#options, day);
    const newest = Math.max(-1, ...parts.map(({ part }) => part));
    if (parts.some(({ part, isCompressed }) => part === newest && !isCompressed)) return newest;
    return Math.min(newest + 1, MAX_PART);
  }

  /** Each step that failed is made up for by the next call. */
  #openAndLink(): void {
    if (this.#file.isFinished) return;
    const { directory, liveName } = this.#options;
    if (liveName !== undefined || !this.isFlushed || existsSync(this.path)) this.#file.open();
    if (this.#isLinked || liveName === undefined) return;
    const live = join(directory, liveName);
    const temporary = `${live}.new`;
    if (existsSync(temporary)) unlinkSync(temporary);
    linkSync(this.path, temporary);
    renameSync(temporary, live);
    // rename(2) of two links to one inode does nothing and leaves both.
    if (existsSync(temporary)) unlinkSync(temporary);
    this.#isLinked = true;
  }
}
