import { closeSync, fstatSync, openSync, statfsSync, writeSync } from 'node:fs';
import { usedBytes } from './check-lmdb-file.js';
import type { Change } from './commit-queue.js';
import { StoreError } from './store-error.js';

/**
 * What the file grows by beyond what a commit needs, so that most find their space ready: as much as is in use, within these
 * bounds. A home has a dozen stores, most of which stay small.
 */
const LEAST_GROWTH_BYTES = 256 * 1024;
const MOST_GROWTH_BYTES = 4 * 1024 * 1024;
/** Written again and again. */
const ZEROS = Buffer.alloc(256 * 1024);
/** What a first open needs: meta pages and one page for each table. */
const FIRST_OPEN_BYTES = 2 * 1024 * 1024;
/** The lock file as LMDB makes it: readers of 64 bytes, 126 of them. */
const LOCK_BYTES = 16 * 1024;

const PAGE_BYTES = 4096;
/** Pages one change can touch: the way down a tree of a table, a split on each level, and the list of free pages. */
const PAGES_PER_CHANGE = 8;
/** Key and header of an entry. */
const ENTRY_BYTES = 64;
/** What every commit may need: the table of tables and the list of free pages. */
const COMMIT_BYTES = 64 * PAGE_BYTES;

/**
 * Space for LMDB to write to. LMDB with a full disk under it corrupts memory or never answers, and its lock file, a map
 * with holes, ends the process; so the space of a commit is taken beforehand, by writing zeros behind the last page,
 * where a full disk is an ordinary error. File systems that copy on write keep no such promise.
 */
export class DiskReserve {
  readonly #directory: string;
  readonly #file: number;
  #size: number;

  /** @param file `data.mdb`, made by LMDB already */
  constructor(directory: string, file: string) {
    this.#directory = directory;
    this.#file = openSync(file, 'r+');
    this.#size = fstatSync(this.#file).size;
  }

  /**
   * Makes sure that a file system has room for the first pages of a store, and gives it a lock file without holes.
   * @throws StoreError `full`, or the file system's error
   */
  static prepare(directory: string, lockFile: string): void {
    const { bavail, bsize } = statfsSync(directory);
    if (bavail * bsize < FIRST_OPEN_BYTES) throw full(directory, `${bavail * bsize} bytes are left`);
    const file = openSync(lockFile, 'a', 0o640);
    try {
      const missing = LOCK_BYTES - fstatSync(file).size;
      if (missing > 0) writeSync(file, Buffer.alloc(missing));
    } catch (error) {
      throw asFull(directory, error);
    } finally {
      closeSync(file);
    }
  }

  /**
   * Makes sure that a transaction with these changes finds its space behind the last page. Only between commits: nobody
   * else may lengthen the file meanwhile.
   * @throws StoreError `full`; the file's content is as before
   */
  ensure(changes: readonly Change[]): void {
    const used = usedBytes(this.#file);
    if (typeof used === 'string') throw new StoreError('damaged', `${this.#directory}: ${used}`);
    const bytes = spaceFor(changes, used);
    if (this.#size >= used + bytes) return;
    this.#size = fstatSync(this.#file).size;
    const wanted = used + bytes + Math.min(Math.max(used, LEAST_GROWTH_BYTES), MOST_GROWTH_BYTES);
    try {
      while (this.#size < wanted) {
        const length = Math.min(ZEROS.length, wanted - this.#size);
        this.#size += writeSync(this.#file, ZEROS, 0, length, this.#size);
      }
    } catch (error) {
      // What did go in may be enough already.
      if (this.#size < used + bytes) throw asFull(this.#directory, error);
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Most bytes a transaction may lengthen the file by: every change makes pages anew, but none of them twice. */
function spaceFor(changes: readonly Change[], used: number): number {
  let data = 0;
  for (const { value } of changes) {
    const size = ENTRY_BYTES + (value?.length ?? 0);
    data += size < PAGE_BYTES / 2 ? 2 * size : size + PAGE_BYTES;
  }
  const touched = changes.length * PAGES_PER_CHANGE * PAGE_BYTES;
  return COMMIT_BYTES + data + Math.min(touched, used + used / 256);
}

const FULL_CODES: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

function asFull(directory: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  return FULL_CODES.has(code) ? full(directory, message, error) : error;
}

function full(directory: string, reason: string, cause?: unknown): StoreError {
  return new StoreError('full', `${directory}: no space left: ${reason}`, { cause });
}
