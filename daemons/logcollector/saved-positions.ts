import { type BigIntStats, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { identityOf, inodeKey, isSameInode, lookAt } from './file-identity.js';
import type { SavedFile } from './position-store.js';

/** Positions kept of files that are not open: of more, the oldest are forgotten. */
const MAX_KEPT = 10_000;
/** Entries of a directory among which a file that was renamed is searched. */
const MAX_SEARCHED_ENTRIES = 10_000;
/** Times a directory is searched that changes meanwhile. */
const MAX_SEARCHES = 5;

/** Positions of files that are not open now. */
export class SavedPositions {
  /** By inode, or by path for those that were written without one; in the order of saving. */
  readonly #files = new Map<string, SavedFile>();

  put(saved: SavedFile): void {
    const key = keyOf(saved);
    this.#files.delete(key);
    this.#files.set(key, saved);
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= MAX_KEPT) {
        return;
      }
      this.#files.delete(oldest);
    }
  }

  /** The position of a file, or of what its path was when positions had no inode. */
  find(path: string, stats: BigIntStats): SavedFile | undefined {
    return this.#files.get(inodeKey(identityOf(stats))) ?? this.#files.get(pathKey(path));
  }

  /** Whether there is a position of the very file. */
  has(stats: BigIntStats): boolean {
    return this.#files.has(inodeKey(identityOf(stats)));
  }

  delete(saved: SavedFile): void {
    this.#files.delete(keyOf(saved));
  }

  /** All but those of the inodes given. */
  *except(inodes: ReadonlySet<string>): Generator<SavedFile> {
    for (const [key, saved] of this.#files) {
      if (!inodes.has(key)) {
        yield saved;
      }
    }
  }
}

/** The name that the file of a position has now in its directory; `gone` when the directory is there and it is not. */
export function findRenamed(
  saved: SavedFile,
): { readonly path: string; readonly stats: BigIntStats } | 'gone' | 'away' {
  const { path, device, inode } = saved;
  if (device === undefined || inode === undefined) {
    return 'away';
  }
  const directory = dirname(path);
  // A rotation under way may rename the file behind the search: then it is made again.
  for (let attempt = 1; ; attempt += 1) {
    const before = lookAt(directory)?.mtimeNs;
    let entries: string[];
    try {
      entries = readdirSync(directory);
    } catch {
      return 'away';
    }
    for (const entry of entries.slice(0, MAX_SEARCHED_ENTRIES)) {
      const candidate = join(directory, entry);
      const stats = lookAt(candidate);
      if (stats?.isFile() === true && isSameInode({ device, inode }, stats)) {
        return { path: candidate, stats };
      }
    }
    if (attempt === MAX_SEARCHES || lookAt(directory)?.mtimeNs === before) return 'gone';
  }
}

function keyOf({ device, inode, path }: SavedFile): string {
  return device === undefined || inode === undefined ? pathKey(path) : inodeKey({ device, inode });
}

function pathKey(path: string): string {
  return `path ${path}`;
}
