import { lstatSync, readdirSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes a file or directory with all in it. What lies in another user's directory is removed with that user's rights where
 * this process is root: its owner may put a link in place of a directory at any moment, and would have root empty a
 * directory elsewhere.
 * @throws the file system's error, unless there is nothing
 */
export function removeTree(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (process.geteuid?.() !== 0 || stats.uid === 0 || !stats.isDirectory()) {
    rmSync(path, { recursive: true, force: true });
    return;
  }
  process.seteuid?.(stats.uid);
  try {
    for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true });
  } finally {
    process.seteuid?.(0);
  }
  // Root again, for the directory above: an empty directory goes, whatever else stands there now does not.
  rmdirSync(path);
}
