import { readFile } from 'node:fs/promises';
import { isErrno } from '../../lib/files/is-errno.js';

/** Text of a file, one character a byte; empty when there is none. @throws the file system's error */
export async function readIfPresent(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}
