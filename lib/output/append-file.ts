import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { syncDirectory, syncDirectoryNow } from '../files/sync-directory.js';
import { endOfRecords, type RecordEnd } from './end-of-records.js';

/** What was found wrong with a file that is continued, and what was done about it. */
export type FileRepair = {
  readonly path: string;
  /**
   * - `torn`: an unfinished record at the end was cut;
   * - `differs`: what follows is not what replay gives; it was cut and is written anew;
   * - `short`: bytes that were written and synced once are gone, the file goes on from its last whole record;
   * - `extra`: whole records that replay did not give were kept.
   */
  readonly kind: 'torn' | 'differs' | 'short' | 'extra';
  /** Where it begins. */
  readonly offset: number;
  /** How many bytes were cut, are missing or were kept. */
  readonly bytes: number;
};

export type AppendFileOptions = {
  /** What closes a record. A tail without it was torn by a crash. */
  readonly recordEnd: RecordEnd;
  /** Permission bits of directories that are made for it, before the umask. */
  readonly directoryMode: number;
  readonly onRepair?: (repair: FileRepair) => void;
};

/** Where a file goes on after a restart. */
export type ResumePoint = {
  /** Bytes that were written when the state was taken; what is appended now continues there. */
  readonly length: number;
  /** The file was finished and put away meanwhile: bytes are counted and go nowhere. */
  readonly isFinished?: boolean;
};

export type CloseOptions = {
  /** In the middle of a replay, which the next run goes on with: what the file has beyond stays as it is (default false). */
  readonly midway?: boolean;
};

const FILE_MODE = 0o640;
/** What replay reads of a file at a time. */
const COMPARE_BYTES = 1024 * 1024;
/** Memory for what waits to be written: at first, and what is kept when more was needed once. */
const FIRST_BYTES = 16 * 1024;
const KEPT_BYTES = 2 * 1024 * 1024;
/** Directories above a file whose entries are synced with it: `YYYY/Mon` of dated files and what they lie in. */
const SYNCED_DIRECTORIES = 3;

const EMPTY = Buffer.alloc(0);

const fdatasyncOf = promisify(fdatasync);
let scratch: Buffer | undefined;

/**
 * A file that only grows, by records that are byte strings (one char code a byte). They reach the file at `flush`, in one
 * write where the system takes it. Not for several processes: `position` counts this writer's bytes.
 *
 * Replay (architecture.md 4 "Journal and checkpoint"): a file made with a resume point gets, once more, what was appended to it
 * since. Bytes that are in the file already are compared and not written again; a torn or differing tail is cut from the
 * beginning of its first record on, and writing goes on there. What the file has beyond is settled by `endReplay`.
 */
export class AppendFile {
  readonly path: string;
  readonly #options: AppendFileOptions;
  readonly #isFinished: boolean;
  #replaying: boolean;
  #fd = -1;
  /** Bytes compared or written. */
  #flushed: number;
  /** Size of the file; above `#flushed` only while bytes wait for replay to come by. */
  #end: number;
  /** What waits to be written, from `#start` up to `#stop`. */
  #waiting: Buffer = EMPTY;
  #start = 0;
  #stop = 0;
  /** In replay: lengths of the records that wait and were not compared yet. */
  #lengths: number[] = [];
  /** Counts changes, so that `sync` knows whether there is anything to do. */
  #changes = 0;
  #synced = 0;
  readonly #unsyncedDirectories = new Set<string>();
  #syncs = 0;
  #closeAfterSync: number[] = [];

  /**
   * Opens nothing yet.
   * @param resume makes it replay; without it the file is continued at its end
   */
  constructor(path: string, options: AppendFileOptions, resume?: ResumePoint) {
    this.path = path;
    this.#options = options;
    this.#replaying = resume !== undefined;
    this.#isFinished = resume?.isFinished ?? false;
    this.#flushed = resume?.length ?? 0;
    this.#end = this.#flushed;
  }

  /** Bytes of the file once everything appended so far is flushed. Without a resume point right only after `open`. */
  get position(): number {
    return this.#flushed + this.#stop - this.#start;
  }

  /** Whether everything appended has been handed to the file system. */
  get isFlushed(): boolean {
    return this.#start === this.#stop;
  }

  /** Whether it only counts, as its file was finished and put away. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /**
   * Opens or makes the file; nothing when it is open. `flush` does it too.
   * @throws Error of the file system; the next call begins anew
   */
  open(): void {
    if (this.#fd >= 0 || this.#isFinished) return;
    const first = mkdirSync(dirname(this.path), { recursive: true, mode: this.#options.directoryMode });
    // Not as other files are opened (regular-file.ts): an administrator may have moved an output elsewhere by a link.
    const fd = openSync(this.path, 'a+', FILE_MODE);
    try {
      this.#continue(fd, fstatSync(fd).size);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    this.#fd = fd;
    this.#changes += 1;
    for (let directory = dirname(this.path), level = 1, made = first; directory !== dirname(directory); level += 1) {
      if (level > SYNCED_DIRECTORIES && made === undefined) break;
      this.#unsyncedDirectories.add(directory);
      if (made !== undefined && directory === dirname(made)) made = undefined;
      directory = dirname(directory);
    }
  }

  /** Adds one record (a byte string that ends with `recordEnd`). Nothing is written before `flush`. */
  append(record: string): void {
    const { length } = record;
    if (this.#stop + length > this.#waiting.length) this.#grow(length);
    this.#waiting.write(record, this.#stop, 'latin1');
    this.#stop += length;
    if (this.#replaying) this.#lengths.push(length);
  }

  /** Adds whole records, bytes `from` up to `to`, exclusive. @param lengths bytes of each */
  addRecords(bytes: Buffer, from: number, to: number, lengths: readonly number[]): void {
    const length = to - from;
    if (this.#stop + length > this.#waiting.length) this.#grow(length);
    bytes.copy(this.#waiting, this.#stop, from, to);
    this.#stop += length;
    if (this.#replaying) for (const record of lengths) this.#lengths.push(record);
  }

  /**
   * Hands everything appended to the file system.
   * @throws the system's error (for example ENOSPC); what was not written stays and goes first the next time, so
   *   that a retry neither loses nor repeats a byte.
   */
  flush(): void {
    if (this.isFlushed) return;
    if (this.#isFinished) {
      this.#flushed += this.#stop - this.#start;
      this.#end = this.#flushed;
      this.#letGo();
      return;
    }
    this.open();
    // What a failed write left over was compared before: nothing of the file is beyond it.
    if (this.#flushed < this.#end) {
      const known = this.#compare(this.#waiting.subarray(this.#start, this.#stop));
      this.#start += known;
      this.#flushed += known;
    }
    this.#lengths.length = 0;
    while (this.#start < this.#stop) {
      const written = this.#write();
      this.#start += written;
      this.#flushed += written;
      this.#end = this.#flushed;
      this.#changes += 1;
    }
    this.#letGo();
  }

  /**
   * Flushes and waits until everything is on the disk itself, the file's name included.
   * @throws the system's error; what was not synced is tried again the next time
   */
  async sync(): Promise<void> {
    this.flush();
    const fd = this.#fd;
    const target = this.#changes;
    if (fd < 0 || this.#synced >= target) return;
    const directories = [...this.#unsyncedDirectories];
    this.#syncs += 1;
    try {
      await fdatasyncOf(fd);
      for (const directory of directories.filter(isThere)) await syncDirectory(directory);
    } finally {
      this.#syncs -= 1;
      if (this.#syncs === 0) for (const late of this.#closeAfterSync.splice(0)) closeSync(late);
    }
    for (const directory of directories) this.#unsyncedDirectories.delete(directory);
    this.#synced = Math.max(this.#synced, target);
  }

  /**
   * Replay has given everything: whole records beyond are kept, a torn one is cut. Flushes first; see `flush` for errors,
   * after which it can be called again.
   */
  endReplay(): void {
    if (!this.#replaying) return;
    this.flush();
    if (!this.#isFinished && (this.#flushed > 0 || existsSync(this.path))) {
      this.open();
      this.#settle();
    }
    this.#replaying = false;
  }

  /** Flushes, ends replay, syncs and closes; a file that was never opened stays so. Errors as `flush`. */
  close({ midway = false }: CloseOptions = {}): void {
    this.flush();
    if (this.#fd < 0) return;
    if (!midway || !this.#replaying) this.#settle();
    if (this.#synced < this.#changes && this.#flushed > 0) {
      // Nobody syncs it later, and what a checkpoint takes for written must be.
      fdatasyncSync(this.#fd);
      for (const directory of [...this.#unsyncedDirectories].filter(isThere)) syncDirectoryNow(directory);
    }
    // A number that is given back during a sync could be that of another file by then.
    if (this.#syncs > 0) this.#closeAfterSync.push(this.#fd);
    else closeSync(this.#fd);
    this.#fd = -1;
  }

  /** Closes a file that nothing was appended to. */
  giveUp(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
  }

  /** Finds where to go on in the file just opened. */
  #continue(fd: number, size: number): void {
    if (this.#replaying && size >= this.#flushed) {
      this.#end = size;
      return;
    }
    const end = endOfRecords(fd, 0, size, this.#options.recordEnd);
    if (end < size) ftruncateSync(fd, end);
    if (this.#replaying) this.#report('short', end, this.#flushed - end);
    else if (end < size) this.#report('torn', end, size - end);
    this.#flushed = end;
    this.#end = end;
  }

  /**
   * How many of the bytes, which come next, are in the file already. Cuts the file there when it goes on differently.
   * @throws Error of the file system; nothing has changed then
   */
  #compare(fresh: Buffer): number {
    const common = Math.min(fresh.length, this.#end - this.#flushed);
    let same = 0;
    scratch ??= Buffer.allocUnsafe(COMPARE_BYTES);
    while (same < common) {
      const wanted = Math.min(scratch.length, common - same);
      const length = readSync(this.#fd, scratch, 0, wanted, this.#flushed + same);
      if (length === 0) break;
      if (fresh.compare(scratch, 0, length, same, same + length) !== 0) {
        let index = 0;
        while (fresh[same + index] === scratch[index]) index += 1;
        same += index;
        break;
      }
      same += length;
    }
    if (same === fresh.length) return same;
    let start = 0;
    for (const length of this.#lengths) {
      if (start + length > same) break;
      start += length;
    }
    const offset = this.#flushed + start;
    const bytes = this.#end - offset;
    if (bytes > 0) {
      ftruncateSync(this.#fd, offset);
      this.#changes += 1;
      this.#report(same === common ? 'torn' : 'differs', offset, bytes);
    }
    this.#end = offset;
    return start;
  }

  /** Keeps the whole records that replay did not give and cuts what is torn behind them. */
  #settle(): void {
    if (this.#flushed >= this.#end) return;
    const from = this.#flushed;
    const end = endOfRecords(this.#fd, from, this.#end, this.#options.recordEnd);
    if (end < this.#end) ftruncateSync(this.#fd, end);
    if (end > from) this.#report('extra', from, end - from);
    if (end < this.#end) this.#report('torn', end, this.#end - end);
    this.#flushed = end;
    this.#end = end;
    this.#changes += 1;
  }

  /** Makes room for so many bytes more behind what waits. */
  #grow(bytes: number): void {
    const waiting = this.#stop - this.#start;
    let size = Math.max(FIRST_BYTES, this.#waiting.length);
    while (size < waiting + bytes) size *= 2;
    const grown = size === this.#waiting.length ? this.#waiting : Buffer.allocUnsafeSlow(size);
    this.#waiting.copy(grown, 0, this.#start, this.#stop);
    this.#waiting = grown;
    this.#start = 0;
    this.#stop = waiting;
  }

  /** Everything that waited is written or counted. */
  #letGo(): void {
    this.#start = 0;
    this.#stop = 0;
    this.#lengths.length = 0;
    if (this.#waiting.length > KEPT_BYTES) this.#waiting = EMPTY;
  }

  #write(): number {
    try {
      return writeSync(this.#fd, this.#waiting.subarray(this.#start, this.#stop));
    } catch (error) {
      // The system's error of a descriptor does not name its file, and whoever reads it must know which disk is full.
      throw error instanceof Error ? Object.assign(error, { path: this.path }) : error;
    }
  }

  #report(kind: FileRepair['kind'], offset: number, bytes: number): void {
    this.#options.onRepair?.({ path: this.path, kind, offset, bytes });
  }
}

/** A directory that somebody removed meanwhile must not fail every checkpoint until the file is left. */
function isThere(directory: string): boolean {
  return existsSync(directory);
}
