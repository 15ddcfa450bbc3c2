import { closeSync, constants } from 'node:fs';
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
  const below = relative(home, path);
  if (process.geteuid?.() !== 0 || below.split('/', 1)[0] === '..') return open(path, FLAGS);
  const descriptor = openBelow(home, below);
  try {
    return await open(`/proc/self/fd/${String(descriptor)}`, FLAGS);
  } finally {
    closeSync(descriptor);
  }
}
