import { type BigIntStats, constants } from 'node:fs';
import { isErrno } from '../../files/is-errno.js';
import { bytesOf } from '../byte-order.js';
import { ALL_HASHES } from '../checks.js';
import { type ContentHashes, EMPTY_HASHES } from '../entry-checksum.js';
import { ContentHash, hashesOf } from './content-hash.js';
import type { EntryOutcome, SkipReason } from './entry-outcome.js';
import type { FileCalls } from './file-calls.js';
import { filtered, type Prefilter } from './prefilter.js';

/** Bytes read at a time, and all that one reader ever holds of contents. */
export const CHUNK_BYTES = 256 * 1024;

/** Times a file is read again that was exchanged or written to while it was read. */
const MOST_TRIES = 3;

/**
 * Nanoseconds a file must have rested before it was read for its stamp to be trusted: the clocks of file systems are
 * coarse (up to 2 s on FAT), so that a second write at once after the reading may leave both times as they were.
 */
const RESTED_NS = 2_000_000_000n;

const { S_IFMT, S_IFREG, S_IFLNK, S_IFDIR } = constants;

/** What a reader goes by. */
export type ReadLimits = {
  /** Files of this size or more are not hashed, bytes (`syscheck.file_max_size`; integrity-and-inventory.md 3.4). */
  readonly maxFileBytes: number;
  /** What it prints is hashed instead of the file. */
  readonly prefilter?: Prefilter | undefined;
};

/**
 * Looks at files one after the other with calls that block: made for a thread of its own (entry-thread.ts). What is no
 * regular file is never opened, and what was opened is compared with what was seen before, so that an exchange between
 * the two shows.
 */
export class EntryReader {
  readonly #limits: ReadLimits;
  readonly #calls: FileCalls;
  readonly #stopped: () => boolean;
  readonly #now: () => number;
  readonly #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);

  /** @param stopped asked between two pieces of a file @param now epoch milliseconds */
  constructor(limits: ReadLimits, calls: FileCalls, stopped: () => boolean, now: () => number = Date.now) {
    this.#limits = limits;
    this.#calls = calls;
    this.#stopped = stopped;
    this.#now = now;
  }

  /**
   * @param path byte string
   * @param hashes those wanted, of `CHECKS`
   * @param known stamp of the entry when its content need not be read again while the stamp is the same
   */
  read(path: string, hashes: number, known: string | undefined): EntryOutcome {
    const bytes = bytesOf(path);
    try {
      for (let attempt = 1; attempt <= MOST_TRIES; attempt += 1) {
        const outcome = this.#attempt(bytes, hashes & ALL_HASHES, known, attempt === MOST_TRIES);
        if (outcome !== undefined) return outcome;
      }
      return skipped('vanished');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      return code === 'ENOENT' || code === 'ENOTDIR' ? skipped('vanished') : skipped('unreadable', code);
    }
  }

  /** @returns undefined when it has to be looked at again */
  #attempt(path: Buffer, wanted: number, known: string | undefined, last: boolean): EntryOutcome | undefined {
    const seen = this.#calls.lstat(path);
    if (seen === undefined) return skipped('vanished');
    const type = Number(seen.mode) & S_IFMT;
    if (type === S_IFLNK) return found('link', seen, pick(EMPTY_HASHES, wanted), this.#stampOf(seen), false, false);
    if (type !== S_IFREG) return skipped(type === S_IFDIR ? 'directory' : 'special');
    const stamp = this.#stampOf(seen);
    if (known !== undefined && stamp === known) return found('file', seen, undefined, stamp, true, false);
    if (wanted === 0 || seen.size === 0n || seen.size >= BigInt(this.#limits.maxFileBytes)) {
      return found('file', seen, pick(EMPTY_HASHES, wanted), this.#trusted(seen, stamp), false, false);
    }
    const descriptor = this.#open(path);
    if (descriptor === undefined) return undefined;
    try {
      return this.#content(path, descriptor, seen, wanted, last);
    } finally {
      this.#calls.close(descriptor);
    }
  }

  /** @returns undefined when there is a link now where the file was */
  #open(path: Buffer): number | undefined {
    try {
      return this.#calls.open(path);
    } catch (error) {
      if (isErrno(error, 'ELOOP')) return undefined;
      throw error;
    }
  }

  #content(
    path: Buffer,
    descriptor: number,
    seen: BigIntStats,
    wanted: number,
    last: boolean,
  ): EntryOutcome | undefined {
    const opened = this.#calls.fstat(descriptor);
    if (opened.ino !== seen.ino || opened.dev !== seen.dev || opened.mode !== seen.mode) return undefined;
    const stamp = this.#stampOf(seen);
    const trusted = this.#trusted(seen, stamp);
    const { prefilter } = this.#limits;
    const hashes =
      prefilter === undefined
        ? this.#hash(descriptor, Number(seen.size), wanted)
        : hashesOf(filtered(prefilter, path.toString('latin1'), descriptor), wanted);
    if (hashes === undefined) return skipped('stopped');
    // The command was given the name: it may have read another file than the one that is open.
    const after = prefilter === undefined ? this.#calls.fstat(descriptor) : this.#calls.lstat(path);
    const settled = after !== undefined && this.#stampOf(after) === stamp;
    if (!settled && !last) return undefined;
    return found('file', seen, hashes, settled ? trusted : undefined, false, !settled);
  }

  /** Hashes no more bytes than there were at first: a file that grows faster than it is read has no end. */
  #hash(descriptor: number, size: number, wanted: number): ContentHashes | undefined {
    const first = this.#calls.read(descriptor, this.#chunk, Math.min(size, CHUNK_BYTES));
    if (first === size) return hashesOf(this.#chunk.subarray(0, size), wanted);
    const hash = new ContentHash(wanted);
    for (let left = size, length = first; length > 0;) {
      if (this.#stopped()) return undefined;
      hash.update(this.#chunk.subarray(0, length));
      left -= length;
      if (left <= 0) break;
      length = this.#calls.read(descriptor, this.#chunk, Math.min(left, CHUNK_BYTES));
    }
    return hash.digest();
  }

  #stampOf(stats: BigIntStats): string {
    const stamp = `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
    const { prefilter } = this.#limits;
    return prefilter === undefined ? stamp : `${stamp}:${prefilter.mark}`;
  }

  #trusted(stats: BigIntStats, stamp: string): string | undefined {
    const before = BigInt(Math.floor(this.#now())) * 1_000_000n - RESTED_NS;
    return stats.mtimeNs < before && stats.ctimeNs < before ? stamp : undefined;
  }
}

function found(
  kind: 'file' | 'link',
  stats: BigIntStats,
  hashes: ContentHashes | undefined,
  stamp: string | undefined,
  unchanged: boolean,
  unsettled: boolean,
): EntryOutcome {
  return {
    kind,
    size: Number(stats.size),
    mode: Number(stats.mode),
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    mtime: secondsOf(stats.mtimeNs),
    inode: String(stats.ino),
    dev: String(stats.dev),
    ...(stats.nlink > 1n && { links: Number(stats.nlink) }),
    hashes,
    stamp,
    unchanged,
    unsettled,
  };
}

/** Whole seconds as the system counts them: rounded down, before 1970 too. */
function secondsOf(nanoseconds: bigint): number {
  return Math.floor(Number(nanoseconds / 1_000_000n) / 1000);
}

function pick(hashes: Required<ContentHashes>, wanted: number): ContentHashes {
  return wanted === 0 ? {} : hashes;
}

function skipped(reason: SkipReason, code?: string): EntryOutcome {
  return code === undefined ? { kind: 'skipped', reason } : { kind: 'skipped', reason, code };
}
