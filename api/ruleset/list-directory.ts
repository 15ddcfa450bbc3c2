import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../lib/files/is-errno.js';
import { readFileBelow } from '../../lib/files/read-below.js';
import type { Home } from '../../lib/home/home.js';

/** Where the user's lists are, below the home. */
export const LISTS_DIRECTORY = 'etc/lists';

/** Deepest directory below `etc/lists` that is looked into, and most entries: a loop of mounts must end somewhere. */
const MAX_DEPTH = 16;
const MAX_ENTRIES = 100_000;
/** Largest list read for the API, bytes: a file that somebody let grow must not fill its memory. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Where a list is, as the API shows it. */
export type ListFile = { readonly relative_dirname: string; readonly filename: string };

/** The text files of CDB lists below `etc/lists` of a home (rules-and-alerts.md 10.4). */
export class ListDirectory {
  readonly #home: Home;

  constructor(home: Home) {
    this.#home = home;
  }

  /**
   * Every list, by directory and name. Compiled lists (`.cdb`), backups of editors and symbolic links are none.
   */
  files(): ListFile[] {
    const found: ListFile[] = [];
    this.#walk(LISTS_DIRECTORY, 0, { entries: 0, found });
    return found;
  }

  /** Absolute path of a list. */
  pathOf({ relative_dirname, filename }: ListFile): string {
    return this.#home.path(relative_dirname, filename);
  }

  /** Whether the name is that of a directory in `etc/lists`. */
  isDirectory(name: string): boolean {
    return this.#kindOf(join(LISTS_DIRECTORY, name)) === 'directory';
  }

  /** Text of a list. @throws the file system's error; RangeError when it is larger than 64 MiB */
  read({ relative_dirname, filename }: ListFile): string {
    return readFileBelow(this.#home.root, `${relative_dirname}/${filename}`, MAX_FILE_BYTES).toString('utf8');
  }

  #walk(directory: string, depth: number, result: { entries: number; readonly found: ListFile[] }): void {
    if (depth > MAX_DEPTH) return;
    let names: string[];
    try {
      names = readdirSync(this.#home.path(directory)).sort();
    } catch (error) {
      // What is not there, or may not be seen, holds nothing to list.
      if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return;
      throw error;
    }
    const subdirectories: string[] = [];
    for (const name of names) {
      if (++result.entries > MAX_ENTRIES) return;
      const kind = this.#kindOf(join(directory, name));
      if (kind === 'directory') subdirectories.push(name);
      else if (kind === 'file' && isListName(name)) result.found.push({ relative_dirname: directory, filename: name });
    }
    for (const name of subdirectories) this.#walk(`${directory}/${name}`, depth + 1, result);
  }

  /** A link is neither: it could show what is not the user's to see, or form a loop. */
  #kindOf(path: string): 'file' | 'directory' | undefined {
    const absolute = this.#home.path(path);
    try {
      const stats = lstatSync(absolute);
      if (stats.isDirectory()) return 'directory';
      if (stats.isFile()) return 'file';
      return undefined;
    } catch {
      // Gone since it was listed.
      return undefined;
    }
  }
}

/** Names with `.cdb` or `~` and the swap files of vi (`.name.swp`) are no lists. */
function isListName(name: string): boolean {
  return !name.includes('.cdb') && !name.includes('~') && !/^\..*\.sw[a-z]$/.test(name);
}
