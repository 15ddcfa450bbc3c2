import { closeSync, constants, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { relative } from 'node:path';
import { openBelow } from '../../lib/files/read-below.js';

/** Without blocking: the name may belong to a pipe by now. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Opens a log. In the home, whose logs are the service user's, root follows no link: else that user would have any file of
 * the host read out to it, line by line.
 * @param path absolute
 * @throws the file system's error, ELOOP or ENOTDIR for such a link
 */
export async function openLog(home: string, path: string): Promise<FileHandle> {
  const below = belowHome(home, path);
  if (below === undefined) return open(path, FLAGS);
  const descriptor = openBelow(home, below);
  try {
    return await open(`/proc/self/fd/${String(descriptor)}`, FLAGS);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Opens a pipe in the same way.
 * @returns the descriptor
 */
export function openPipe(home: string, path: string): number {
  const below = belowHome(home, path);
  return below === undefined ? openSync(path, FLAGS) : openBelow(home, below);
}

/** The path in the home, where root must follow no link; undefined elsewhere, and for others than root. */
function belowHome(home: string, path: string): string | undefined {
  const below = relative(home, path);
  return process.geteuid?.() !== 0 || below.split('/', 1)[0] === '..' ? undefined : below;
}
