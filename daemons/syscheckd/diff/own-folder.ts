import { closeSync, constants, fchmodSync, fchownSync, fstatSync, mkdirSync, openSync } from 'node:fs';
import { isErrno } from '../../../lib/files/is-errno.js';
import { openRealDirectory } from '../../../lib/files/open-real-directory.js';

/** Permissions of the folders of copies: contents of files that others may not read are in them. */
const FOLDER_MODE = 0o700;

/**
 * A folder of this process's own below folders that others may write to: it is held open, and all in it is reached
 * through that, so that no link put anywhere on the way leads elsewhere.
 */
export class OwnFolder {
  readonly #base: string;
  readonly #names: readonly string[];
  #fd: number | undefined;

  /** @param base trusted @param names the way from there; the last is made where it is missing */
  constructor(base: string, ...names: readonly string[]) {
    this.#base = base;
    this.#names = names;
  }

  /** The folder itself; good until the next call after an `await`. @throws the file system's error */
  get path(): string {
    if (this.#fd !== undefined && fstatSync(this.#fd).nlink === 0) this.close();
    this.#fd ??= openOwn(this.#base, this.#names);
    return `/proc/self/fd/${this.#fd}`;
  }

  /** A path in it. @throws the file system's error */
  at(name: string): string {
    return `${this.path}/${name}`;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

function openOwn(base: string, names: readonly string[]): number {
  let fd = openSync(base, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    for (const [index, name] of names.entries()) {
      const path = `/proc/self/fd/${fd}/${name}`;
      if (index === names.length - 1) makeFolder(path);
      const next = openRealDirectory(path);
      closeSync(fd);
      fd = next;
    }
    const { uid, mode } = fstatSync(fd);
    const own = process.geteuid?.() ?? uid;
    if (uid !== own) fchownSync(fd, own, process.getegid?.() ?? -1);
    if ((mode & 0o777) !== FOLDER_MODE) fchmodSync(fd, FOLDER_MODE);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Makes a folder where there is none. @throws the file system's error */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}
