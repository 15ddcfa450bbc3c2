import { closeSync, existsSync, lstatSync, readFileSync, readSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { NotRegularFileError, openRegularFileSync, withRegularFileSync } from '../files/regular-file.js';
import type { Home } from './home.js';

const GROUP_WRITE = 0o020;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/** Thrown when root is to read something that another user could have written; the message says what mends it. */
export class UntrustedFileError extends Error {
  override readonly name = 'UntrustedFileError';
  readonly code = 'untrusted_file';

  constructor(home: Home, path: string, why: string, mending = mendingCommand(home)) {
    super(`'${path}' ${why}, and root would obey it: set it right with '${mending}'`);
  }
}

/** Thrown for a file that has more bytes than are read. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';
  readonly size: number;

  constructor(path: string, size: number) {
    super(`'${path}' has ${String(size)} bytes`);
    this.size = size;
  }
}

/**
 * Reads a file of the home that steers what this process does: home record, configuration, internal options. Root opens
 * it without following links and refuses it when its owner or mode, or those of a directory on the way from the home,
 * would let anybody else have written it (architecture.md 4 "Privileges"). Whoever owns the home directory owns what is in it,
 * so a home of one user is root's to run, too. Other users than root only risk themselves and read it as it is.
 * @param file relative to the home
 * @throws UntrustedFileError, FileTooLargeError, or the file system's error
 */
export function readTrustedFile(home: Home, file: string, maxBytes: number): Buffer {
  const path = home.path(file);
  if (!isRoot()) {
    const { size } = statSync(path);
    if (size > maxBytes) throw new FileTooLargeError(path, size);
    return readFileSync(path);
  }
  checkTrustedDirectory(home, dirname(file));
  const { fd, stats } = openWithoutLinks(home, path);
  try {
    const why = writableByOthers(stats, statSync(home.root));
    if (why !== undefined) throw new UntrustedFileError(home, path, why, rightsCommand(home, path));
    if (stats.size > maxBytes) throw new FileTooLargeError(path, stats.size);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Refuses a directory of the home in which somebody else could put another file in place of root's. Does nothing for
 * other users than root, and for a directory that is not there.
 * @param directory relative to the home; '.' is the home itself
 * @throws UntrustedFileError
 */
export function checkTrustedDirectory(home: Home, directory: string): void {
  if (!isRoot()) return;
  const root = statSync(home.root, { throwIfNoEntry: false });
  if (root === undefined) return;
  const names = directory === '.' ? [] : directory.split('/');
  for (let depth = 0; depth <= names.length; depth += 1) {
    const path = home.path(...names.slice(0, depth));
    // The home itself may be a link: where it leads to was chosen by whoever named it.
    const stats = depth === 0 ? root : lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (!stats.isDirectory()) throw new UntrustedFileError(home, path, 'is not a directory');
    const why = writableByOthers(stats, root);
    // In a sticky directory others make files of their own, and leave those of its owner alone.
    if (why !== undefined && !(isTrustedOwner(stats, root) && (stats.mode & STICKY) !== 0)) {
      throw new UntrustedFileError(home, path, why, rightsCommand(home, path));
    }
  }
}

/** Whether what root does depends on who could have written a file. */
function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

function isTrustedOwner(stats: Stats, root: Stats): boolean {
  return stats.uid === 0 || stats.uid === root.uid;
}

/**
 * Why somebody else than root could have written what lies at any path, also outside of the home: its owner or mode, or those of
 * a directory on the way. Other users than root risk only themselves.
 * @param real absolute, without links
 * @param stats of the open file
 * @returns a clause; undefined when nobody else can
 * @throws the file system's error
 */
export function untrustedBecause(home: Home, real: string, stats: Stats): string | undefined {
  if (!isRoot()) return undefined;
  // Without a home root alone is trusted.
  const root = statSync(home.root, { throwIfNoEntry: false }) ?? statSync('/');
  const why = writableByOthers(stats, root);
  if (why !== undefined) return `'${real}' ${why}`;
  for (let path = dirname(real); ; path = dirname(path)) {
    const directory = lstatSync(path);
    const how = writableByOthers(directory, root);
    const keeps = isTrustedOwner(directory, root) && (directory.mode & STICKY) !== 0;
    if (how !== undefined && !keeps) return `'${path}' ${how}`;
    if (path === dirname(path)) return undefined;
  }
}

/** @param root the home directory @returns why others may write; undefined when nobody else can */
function writableByOthers(stats: Stats, root: Stats): string | undefined {
  if (!isTrustedOwner(stats, root)) return `belongs to user ${String(stats.uid)}`;
  if ((stats.mode & OTHERS_WRITE) !== 0) return 'can be written by every user';
  // In a home of one user the group is that user's own matter; root's own group is root.
  if ((stats.mode & GROUP_WRITE) !== 0 && root.uid === 0 && stats.gid !== 0) {
    return `can be written by group ${String(stats.gid)}`;
  }
  return undefined;
}

function openWithoutLinks(home: Home, path: string): ReturnType<typeof openRegularFileSync> {
  try {
    return openRegularFileSync(path);
  } catch (error) {
    if (!(error instanceof NotRegularFileError)) throw error;
    throw new UntrustedFileError(home, path, error.isLink ? 'is a link' : 'is not a regular file');
  }
}

/** An installed home has the product in it; the other kind with a service user is made by `init`. */
function mendingCommand(home: Home): string {
  return existsSync(home.path('lib', 'security-manager'))
    ? `svc-control install --prefix ${home.root}`
    : `svc-control init --user USER --home ${home.root}`;
}

/** Without a service user a wrong owner or mode is all there is to mend: files copied with those of another host, say. */
function rightsCommand(home: Home, path: string): string {
  return hasServiceUser(home) ? mendingCommand(home) : `chown root: ${path} && chmod go-w ${path}`;
}

/** More than any record has. */
const RECORD_BYTES = 16_384;

/** By `etc/home.json`, whoever wrote it: this decides about advice alone. One that cannot be read counts as yes. */
function hasServiceUser(home: Home): boolean {
  try {
    const text = withRegularFileSync(home.path('etc', 'home.json'), (fd) => {
      const bytes = Buffer.alloc(RECORD_BYTES);
      return bytes.toString('utf8', 0, readSync(fd, bytes));
    });
    const record: unknown = JSON.parse(text);
    return typeof record !== 'object' || record === null || 'user' in record;
  } catch {
    return true;
  }
}
