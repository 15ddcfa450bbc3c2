import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isErrno } from './is-errno.js';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

const ACCESS = { read: O_RDONLY, write: O_WRONLY, update: O_RDWR, append: O_WRONLY | O_APPEND };

/** Something else than a regular file stands under a name: a link, a directory, a pipe, a device. */
export class NotRegularFileError extends Error {
  override readonly name = 'NotRegularFileError';

  /** @param isLink whether it is a symbolic link, wherever it leads to */
  constructor(
    path: string,
    readonly isLink = false,
  ) {
    super(`'${path}' is ${isLink ? 'a link' : 'not a regular file'}`);
  }
}

/** How a file is opened. */
export type RegularFileOptions = {
  /** What is to be done with it; `read` by default. */
  readonly access?: keyof typeof ACCESS;
  /** Permission bits, before the umask, of a file that is made where there is none. Without it none is made. */
  readonly makeMode?: number;
  /** For a path that a person gave: it may be a link. */
  readonly follow?: boolean;
};

/**
 * Opens a file that somebody else may have put there: no link is followed, no pipe is waited for, and what is no regular
 * file is refused. Directories on the way are the caller's business (`readFileBelow`).
 * @returns the descriptor, and what it leads to
 * @throws NotRegularFileError; the file system's error
 */
export function openRegularFileSync(
  path: string,
  options: RegularFileOptions = {},
): { readonly fd: number; readonly stats: Stats } {
  let fd: number;
  try {
    fd = openSync(path, flagsOf(options), options.makeMode);
  } catch (error) {
    throw refusalOf(path, error);
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new NotRegularFileError(path);
    return { fd, stats };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** The same without holding up the event loop. */
export async function openRegularFile(path: string, options: RegularFileOptions = {}): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, flagsOf(options), options.makeMode);
  } catch (error) {
    throw refusalOf(path, error);
  }
  try {
    if (!(await file.stat()).isFile()) throw new NotRegularFileError(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Works on a file that is opened so, and closes it.
 * @throws NotRegularFileError; the file system's error; what the work throws
 */
export function withRegularFileSync<T>(
  path: string,
  work: (fd: number, stats: Stats) => T,
  options?: RegularFileOptions,
): T {
  const { fd, stats } = openRegularFileSync(path, options);
  try {
    return work(fd, stats);
  } finally {
    closeSync(fd);
  }
}

/** The same without holding up the event loop. */
export async function withRegularFile<T>(
  path: string,
  work: (file: FileHandle) => Promise<T>,
  options?: RegularFileOptions,
): Promise<T> {
  const file = await openRegularFile(path, options);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

function flagsOf({ access = 'read', makeMode, follow = false }: RegularFileOptions): number {
  return ACCESS[access] | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW) | (makeMode === undefined ? 0 : O_CREAT);
}

/** The system names a link by ELOOP, and what cannot be opened like a file by ENXIO (a pipe, a socket) or EISDIR. */
function refusalOf(path: string, error: unknown): unknown {
  const isLink = isErrno(error, 'ELOOP');
  return isLink || isErrno(error, 'ENXIO', 'EISDIR') ? new NotRegularFileError(path, isLink) : error;
}
