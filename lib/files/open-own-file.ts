import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats, writeSync } from 'node:fs';
import { removeTree } from './remove-tree.js';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

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
      return openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || attempt >= MAX_ATTEMPTS) throw error;
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
 * Opens a file that several users append to. Refused under its name are a link (ELOOP), a pipe, which would hold this
 * process up, and, for root, a file with a second name elsewhere: each is a way to have root write into another file.
 * @returns the descriptor, and whether the file was made here: only then are its mode and owner this process's to set
 * @throws the file system's error, or Error for what is no such file
 */
export function openSharedFile(path: string, mode: number): { readonly fd: number; readonly made: boolean } {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { fd: openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, mode), made: true };
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    try {
      const fd = openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
      const refusal = refusalOf(fstatSync(fd), path);
      if (refusal === undefined) return { fd, made: false };
      closeSync(fd);
      throw new Error(`'${path}' ${refusal}`);
    } catch (error) {
      // Taken away between the two looks: a rotation.
      if (codeOf(error) !== 'ENOENT' || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

function refusalOf(stats: Stats, path: string): string | undefined {
  if (!stats.isFile()) return 'is no regular file';
  if (process.geteuid?.() === 0 && !isOnlyName(path, stats)) return 'has another name elsewhere (a hard link)';
  return undefined;
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

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
