import { closeSync, constants, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { isErrno } from './is-errno.js';

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY;

/** Makes the names in a directory safe against a power cut. @throws the file system's error */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, FLAGS);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** The same where the file system can: some of the network cannot, and their files are safe all the same. @throws others */
export async function syncDirectoryWherePossible(path: string): Promise<void> {
  try {
    await syncDirectory(path);
  } catch (error) {
    if (!isErrno(error, 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP')) throw error;
  }
}

/** The same while nothing else runs. */
export function syncDirectoryNow(path: string): void {
  const fd = openSync(path, FLAGS);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
