import { createHash } from 'node:crypto';
import { closeSync, fstatSync, lstatSync, readdirSync, readSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type ManifestFile, MAX_SET_FILES, MAX_SHARED_FILE_BYTES } from '../../../lib/cluster/record-kinds.js';
import { isErrno } from '../../../lib/files/is-errno.js';
import { openBelow } from '../../../lib/files/read-below.js';
import { isOwnName, isPathOf, MAX_DEPTH, type SetPlace } from './set-place.js';

/** A file that changed a shorter time ago may be in the middle of being written, milliseconds. */
const SETTLE_MS = 150;
/** Bytes read without a pause. */
const PIECE_BYTES = 1024 * 1024;
/** Entries looked at without a pause. */
const ENTRIES_A_TURN = 200;

/** A file of a set as it is here; the stamp is another one once it changes. */
export type LocalFile = ManifestFile & { readonly stamp: string };

/** What a look at a folder found. */
export type SetScan = {
  readonly files: ReadonlyMap<string, LocalFile>;
  /** Milliseconds until what is being written may be whole; 0 when all is at rest. */
  readonly settleMs: number;
  /** Whether a file changed while it was read, and is not among them. */
  readonly torn: boolean;
  /** What is not shared although it looks as if it should, one text each. */
  readonly odd: readonly string[];
};

/** A folder that cannot be looked at whole: what is not seen must not be taken for removed. */
class ScanError extends Error {
  override readonly name = 'ScanError';
}

/** Tells a file from what it was before. */
export function stampOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${String(ino)} ${String(size)} ${String(mtimeMs)} ${String(ctimeMs)}`;
}

type Found = { readonly path: string; readonly stats: Stats };

/** Looks at the files of a set; contents are read again only when a file has changed. */
export class SetScanner {
  readonly #place: SetPlace;
  readonly #now: () => number;
  #known = new Map<string, LocalFile>();

  /** @param now epoch milliseconds of this host, which stamps its files */
  constructor(place: SetPlace, now: () => number = Date.now) {
    this.#place = place;
    this.#now = now;
  }

  /**
   * @returns undefined when there is no folder
   * @throws ScanError naming what cannot be read
   */
  async scan(): Promise<SetScan | undefined> {
    const { folder, shown, tops } = this.#place;
    const odd: string[] = [];
    const found: Found[] = [];
    try {
      const stats = lstatSync(folder, { throwIfNoEntry: false });
      if (stats === undefined) return undefined;
      if (!stats.isDirectory()) throw new ScanError(`${shown} is no folder`);
      for (const top of tops ?? ['']) await this.#list(top, found, odd);
      return await this.#sums(found, odd);
    } catch (error) {
      if (error instanceof ScanError) throw error;
      throw new ScanError(`${shown} cannot be looked at: ${String(error)}`, { cause: error });
    }
  }

  /** @throws the file system's error: also when a folder goes away meanwhile, as what was in it may have moved */
  async #list(below: string, found: Found[], odd: string[]): Promise<void> {
    const { folder, shown, deep } = this.#place;
    const directory = join(folder, below);
    if (below.split('/').length > MAX_DEPTH) throw new ScanError(`${shown}/${below} lies too deep`);
    for (const name of readdirSync(directory).sort()) {
      if (isOwnName(name)) continue;
      if (found.length % ENTRIES_A_TURN === 0) await setImmediate();
      if (found.length >= MAX_SET_FILES) throw new ScanError(`${shown} has more than ${String(MAX_SET_FILES)} files`);
      const path = below === '' ? name : `${below}/${name}`;
      const stats = lstatSync(join(directory, name), { throwIfNoEntry: false });
      if (stats === undefined) continue;
      if (stats.isDirectory()) {
        if (deep) await this.#list(path, found, odd);
        continue;
      }
      const reason = this.#refusal(path, stats);
      if (reason === undefined) found.push({ path, stats });
      else odd.push(`${JSON.stringify(`${shown}/${path}`)} ${reason}: other nodes do not get it.`);
    }
  }

  #refusal(path: string, stats: Stats): string | undefined {
    if (stats.isSymbolicLink()) return 'is a symbolic link, which is not followed';
    if (!stats.isFile()) return 'is no regular file';
    if (!isPathOf(this.#place, path)) return 'has a name that is not shared';
    if (stats.size > MAX_SHARED_FILE_BYTES) return `is larger than ${String(MAX_SHARED_FILE_BYTES)} bytes`;
    return undefined;
  }

  async #sums(found: readonly Found[], odd: readonly string[]): Promise<SetScan> {
    const files = new Map<string, LocalFile>();
    let settleMs = 0;
    let torn = false;
    for (const { path, stats } of found) {
      const age = this.#now() - Math.max(stats.ctimeMs, stats.mtimeMs);
      // A time to come is that of a clock that was set back.
      if (age >= 0 && age < SETTLE_MS) settleMs = Math.max(settleMs, SETTLE_MS - age);
      const stamp = stampOf(stats);
      const known = this.#known.get(path);
      const file = known?.stamp === stamp ? known : await this.#read(path, stamp);
      if (file === undefined) torn = true;
      else files.set(path, file);
    }
    this.#known = new Map(files);
    return { files, settleMs: torn ? SETTLE_MS : settleMs, torn, odd };
  }

  /** @returns undefined when it changes meanwhile */
  async #read(path: string, stamp: string): Promise<LocalFile | undefined> {
    const sum = createHash('sha256');
    let size = 0;
    const same = await readStable(this.#place.folder, path, stamp, (piece) => {
      sum.update(piece);
      size += piece.length;
    });
    return same ? { path, sha256: sum.digest('hex'), size, stamp } : undefined;
  }
}

/**
 * Content of a file as a scan saw it.
 * @returns undefined when it is another one by now
 * @throws the file system's error
 */
export async function readLocal(place: SetPlace, { path, stamp }: LocalFile): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  const same = await readStable(place.folder, path, stamp, (piece) => pieces.push(Buffer.from(piece)));
  return same ? Buffer.concat(pieces) : undefined;
}

/** No link is followed on the way. @returns whether the file had the stamp all the time */
async function readStable(
  folder: string,
  path: string,
  stamp: string,
  take: (piece: Buffer) => void,
): Promise<boolean> {
  let fd: number;
  try {
    fd = openBelow(folder, path);
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return false;
    throw error;
  }
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    if (!isStill(fd, stamp)) return false;
    for (;;) {
      const read = readSync(fd, piece, 0, PIECE_BYTES, null);
      if (read === 0) break;
      take(piece.subarray(0, read));
      if (read === PIECE_BYTES) await setImmediate();
    }
    return isStill(fd, stamp);
  } finally {
    closeSync(fd);
  }
}

function isStill(fd: number, stamp: string): boolean {
  const stats = fstatSync(fd);
  return stats.isFile() && stampOf(stats) === stamp;
}
