import { closeSync, constants, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

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
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  try {
    if (stats.isDirectory()) removeDirectory(path, shown, depth);
    else unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function removeDirectory(path: string, shown: string, depth: number): void {
  if (depth >= MAX_DEPTH) throw new Error(`'${shown}' is nested deeper than ${String(MAX_DEPTH)} directories`);
  const directory = openSync(path, DIRECTORY);
  try {
    const below = `/proc/self/fd/${String(directory)}`;
    for (const name of readdirSync(below)) removeEntry(`${below}/${name}`, `${shown}/${name}`, depth + 1);
  } finally {
    closeSync(directory);
  }
  rmdirSync(path);
}
