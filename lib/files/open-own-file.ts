import { closeSync, lstatSync, openSync, type Stats, writeSync } from 'node:fs';
import { isErrno } from './is-errno.js';
import { openRegularFileSync } from './regular-file.js';
import { removeTree } from './remove-tree.js';

/** Tries at making a file while others make and remove one of that name. */
const MAX_ATTEMPTS = 20;

/**
 * Makes a file for writing in a directory that the service user may write to, while this process may be root: whatever
 * stands under the name is removed, never written to, so no file elsewhere can be cut or written through it.
 * @returns the descriptor
 * @throws the file system's error
 */
export function makeOwnFile(path: string, mode = 0o640): number {
  for (let attempt = 1; ; attempt += 1) {
    removeTree(path);
    try {
      return openSync(path, 'wx', mode);
    } catch (error) {
      if (!isErrno(error, 'EEXIST') || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

/** Writes a small file in the same way. @throws the file system's error */
export function writeOwnFile(path: string, content: string): void {
  const fd = makeOwnFile(path);
  try {
    writeSync(fd, content);
  } finally {
    closeSync(fd);
  }
}

/**
 * Opens a file that several users append to. Refused under its name are a link, a pipe, which would hold this
 * process up, and, for root, a file with a second name elsewhere: each is a way to have root write into another file.
 * @returns the descriptor, and whether the file was made here: only then are its mode and owner this process's to set
 * @throws the file system's error, NotRegularFileError, or Error for a file with another name
 */
export function openSharedFile(path: string, mode: number): { readonly fd: number; readonly made: boolean } {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { fd: openSync(path, 'ax', mode), made: true };
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
    }
    try {
      const { fd, stats } = openRegularFileSync(path, { access: 'append' });
      if (process.geteuid?.() !== 0 || isOnlyName(path, stats)) return { fd, made: false };
      closeSync(fd);
      throw new Error(`'${path}' has another name elsewhere (a hard link)`);
    } catch (error) {
      // Taken away between the two looks: a rotation.
      if (!isErrno(error, 'ENOENT') || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Whether an open file has this name and no other. One look by the name tells both at once: whoever takes a second name away
 * after the opening does not pass.
 * @throws the file system's error, ENOENT when the name is gone
 */
export function isOnlyName(path: string, opened: Stats): boolean {
  const { dev, ino, nlink } = lstatSync(path);
  return dev === opened.dev && ino === opened.ino && nlink === 1;
}
