import { type BigIntStats, statSync } from 'node:fs';
import { hasWildcard } from '../../lib/files/name-pattern.js';
import { identityOf, inodeKey } from './file-identity.js';
import type { FileSource } from './file-source.js';
import { fileErrorText, type OnceLog } from './once-log.js';
import { expandPath } from './path-pattern.js';

/** A regular file that a source names. */
export type FoundFile = { readonly path: string; readonly source: FileSource; readonly stats: BigIntStats };

/** What the sources name now. */
export type FoundPaths = {
  /** By path. */
  readonly files: ReadonlyMap<string, FoundFile>;
  /** Where new ones may appear. */
  readonly directories: ReadonlySet<string>;
};

/** Finds the files that sources name (daemons-and-config.md 6.3), and says once why others are left out. */
export class FileFinder {
  readonly #log: OnceLog;
  readonly #maxFiles: number;
  readonly #now: () => number;

  constructor(log: OnceLog, maxFiles: number, now: () => number) {
    this.#log = log;
    this.#maxFiles = maxFiles;
    this.#now = now;
  }

  /** @param isOpen whether a path is followed already: it is not left out for its age, nor reported missing */
  find(sources: readonly FileSource[], isOpen: (path: string) => boolean): FoundPaths {
    const files = new Map<string, FoundFile>();
    const directories = new Set<string>();
    const inodes = new Set<string>();
    const date = new Date(this.#now());
    for (const source of sources) {
      const pattern = source.pattern(date);
      const expansion = expandPath(pattern, this.#maxFiles);
      expansion.directories.forEach((directory) => directories.add(directory));
      if (expansion.cut) {
        this.#sayLimit();
      }
      for (const path of expansion.paths) {
        const stats = this.#inspect(source, path, hasWildcard(pattern), isOpen(path));
        if (stats === undefined) {
          continue;
        }
        const inode = inodeKey(identityOf(stats));
        if (files.has(path)) {
          this.#log.say(`${path} twice`, 'warn', `(1958): Log file '${path}' is duplicated.`);
        } else if (inodes.has(inode)) {
          this.#log.say(`${path} twice`, 'debug', `(1966): Inode for file '${path}' already found. Skipping it.`);
        } else if (files.size >= this.#maxFiles) {
          this.#sayLimit();
        } else {
          inodes.add(inode);
          files.set(path, { path, source, stats });
        }
      }
    }
    return { files, directories };
  }

  #sayLimit(): void {
    this.#log.say(
      'max_files',
      'warn',
      `(1960): File limit has been reached (${String(this.#maxFiles)}). Please reduce the amount of files or increase "logcollector.max_files".`,
    );
  }

  /** A file that can be followed. */
  #inspect(source: FileSource, path: string, fromWildcard: boolean, open: boolean): BigIntStats | undefined {
    const { age } = source.config;
    if (source.excludes(path, new Date(this.#now()))) {
      this.#log.say(path, 'debug', `(1965): File excluded: '${path}'.`);
      return undefined;
    }
    let stats: BigIntStats | undefined;
    try {
      stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      this.#log.say(path, 'error', `(1103): Could not open file '${path}' due to ${fileErrorText(error)}.`);
      return undefined;
    }
    if (stats === undefined) {
      if (!open) {
        this.#log.say(path, 'info', `(1904): File not available, ignoring it: '${path}'.`);
      }
      return undefined;
    }
    if (!stats.isFile()) {
      // A directory that a wildcard matches is nobody's mistake.
      if (!fromWildcard || !stats.isDirectory()) {
        this.#log.say(path, 'warn', `'${path}' is not a regular file and is not followed.`);
      }
      return undefined;
    }
    if (!open && age > 0 && this.#now() - Number(stats.mtimeMs) > age * 1000) {
      this.#log.say(path, 'debug', `'${path}' was not written for longer than its 'age' and is not followed.`);
      return undefined;
    }
    return stats;
  }
}
