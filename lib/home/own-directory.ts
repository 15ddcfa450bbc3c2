import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
} from 'node:fs';
import { isErrno } from '../files/is-errno.js';
import { openRealDirectory } from '../files/open-real-directory.js';
import type { Home } from './home.js';

/** Others of the group look in, nobody else writes: what lies there is as good as what this process wrote. */
const MODE = 0o750;

/** A directory or file that somebody else could have put there; the message is one clear line. */
export class NotOwnError extends Error {
  override readonly name = 'NotOwnError';
}

/**
 * Makes sure that a directory below the home is one into which nobody but this process's user writes, and that what lies
 * in it was put there by that user: then paths in it can be trusted (architecture.md 4 "Privileges"). Directories on the way are
 * made where they are missing. Root takes over directories of the service user, as older versions made them; files of
 * somebody else, and links, are refused. Whoever owns the home itself may own things in it, too.
 * @param names the way below the home, for example `queue`, `fim`, `db`
 * @returns the directory's path
 * @throws NotOwnError; the file system's error
 */
export function ownDirectory(home: Home, ...names: readonly string[]): string {
  const own = process.geteuid?.() ?? 0;
  const trusted = new Set([own, statSync(home.root).uid]);
  let path = home.root;
  let directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    for (const [index, name] of names.entries()) {
      path = `${path}/${name}`;
      const next = openBelow(directory, name, path);
      closeSync(directory);
      directory = next;
      // The first level is laid out by `init` and may be shared: the way goes on below it through directories of our own.
      if (index > 0 || index === names.length - 1) takeOver(directory, path, trusted);
    }
    refuseForeignFiles(directory, path, trusted);
  } finally {
    closeSync(directory);
  }
  return path;
}

function openBelow(parent: number, name: string, path: string): number {
  const below = `/proc/self/fd/${parent}/${name}`;
  try {
    mkdirSync(below, { mode: MODE });
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
  try {
    return openRealDirectory(below);
  } catch (error) {
    if (!isErrno(error, 'ELOOP', 'ENOTDIR')) throw error;
    throw new NotOwnError(`'${path}' is not a directory of this home (a link?): remove it`, { cause: error });
  }
}

function takeOver(directory: number, path: string, trusted: ReadonlySet<number>): void {
  const { uid, mode } = fstatSync(directory);
  if (!trusted.has(uid)) {
    if (process.geteuid?.() !== 0) throw new NotOwnError(`'${path}' belongs to another user`);
    try {
      fchownSync(directory, 0, process.getegid?.() ?? 0);
    } catch (error) {
      throw new NotOwnError(`'${path}' belongs to another user: give it to root`, { cause: error });
    }
  }
  if ((mode & 0o022) !== 0 && (trusted.has(uid) || process.geteuid?.() === 0)) fchmodSync(directory, mode & 0o755);
}

function refuseForeignFiles(directory: number, path: string, trusted: ReadonlySet<number>): void {
  const links = new Map<number, number>();
  const files: { readonly path: string; readonly stats: Stats }[] = [];
  for (const name of readdirSync(`/proc/self/fd/${directory}`)) {
    const stats = lstatSync(`/proc/self/fd/${directory}/${name}`, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    files.push({ path: `${path}/${name}`, stats });
    links.set(stats.ino, (links.get(stats.ino) ?? 0) + 1);
  }
  for (const { path: file, stats } of files) {
    if (stats.isSymbolicLink()) throw new NotOwnError(`'${file}' is a link: remove it`);
    if (!trusted.has(stats.uid)) throw new NotOwnError(`'${file}' belongs to another user: remove it`);
    // A lock has two names in the directory for a moment; a name elsewhere means that the file is somebody else's.
    if (stats.isFile() && stats.nlink > (links.get(stats.ino) ?? 0)) {
      throw new NotOwnError(`'${file}' has another name elsewhere (a hard link): remove it`);
    }
  }
}
