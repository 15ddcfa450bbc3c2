import type { Dir } from 'node:fs';
import { open, opendir } from 'node:fs/promises';
import { REAL_DIRECTORY } from '../../files/open-real-directory.js';
import { bytesOf } from '../byte-order.js';

/** Names that are read of a directory at a time: one of a million entries is never in memory whole. */
const NAMES_AT_A_TIME = 1024;

/** A directory that is being read; names are byte strings. */
export type OpenDirectory = { readonly dir: Dir; readonly dev: string };

/**
 * Opens a directory, never through a link in the last place of its path: it may have become one since it was found.
 * @param path byte string
 * @throws Error of the system
 */
export async function openDirectory(path: string): Promise<OpenDirectory> {
  const handle = await open(bytesOf(path), REAL_DIRECTORY);
  try {
    const { dev } = await handle.stat({ bigint: true });
    // By its descriptor it is the very one that was opened.
    const dir = await opendir(`/proc/self/fd/${handle.fd}`, { encoding: 'latin1', bufferSize: NAMES_AT_A_TIME });
    return { dir, dev: String(dev) };
  } finally {
    await handle.close();
  }
}
