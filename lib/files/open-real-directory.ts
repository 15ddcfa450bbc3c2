import { constants, openSync } from 'node:fs';

/** A directory under a name, never what a link there leads to, and without waiting for a pipe. */
export const REAL_DIRECTORY: number =
  constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a directory, never through a link in the last place of its path: it may have become one since it was looked at. What
 * is in it is reached below `/proc/self/fd/` and the descriptor.
 * @returns the descriptor
 * @throws the file system's error, ENOTDIR or ELOOP for what is no directory
 */
export function openRealDirectory(path: string | Buffer): number {
  return openSync(path, REAL_DIRECTORY);
}
