import { closeSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { ifPresentSync } from './if-present.js';
import { isErrno } from './is-errno.js';
import { openRealDirectory } from './open-real-directory.js';

/** Deepest nesting that is removed: each level takes a descriptor, and whoever fills a directory may nest for ever. */
const MAX_DEPTH = 500;

/**
 * Removes a file or directory with all in it, going down by descriptors: whoever owns a directory in it may put a link in its
 * place at any moment, and would have root empty a directory elsewhere.
 * @throws the file system's error, unless there is nothing; Error for what is nested too deeply
 */
export function removeTree(path: string): void {
  removeEntry(path, path, 0);
}

/** @param path as the kernel takes it @param shown for people */
function removeEntry(path: string, shown: string, depth: number): void {
  ifPresentSync(() => {
    const directory = openDirectory(path);
    if (directory === undefined) unlinkSync(path);
    else removeDirectory(directory, path, shown, depth);
  });
}

/** @returns undefined for what is no directory, links among them; nothing is asked before, as it may be another by then */
function openDirectory(path: string): number | undefined {
  try {
    return openRealDirectory(path);
  } catch (error) {
    if (isErrno(error, 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
}

function removeDirectory(directory: number, path: string, shown: string, depth: number): void {
  try {
    if (depth >= MAX_DEPTH) throw new Error(`'${shown}' is nested deeper than ${String(MAX_DEPTH)} directories`);
    const below = `/proc/self/fd/${String(directory)}`;
    for (const name of readdirSync(below)) removeEntry(`${below}/${name}`, `${shown}/${name}`, depth + 1);
  } finally {
    closeSync(directory);
  }
  rmdirSync(path);
}
