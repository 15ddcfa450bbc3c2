import { readlinkSync, realpathSync } from 'node:fs';
import { bytesOf } from '../../../lib/fim/byte-order.js';

/**
 * Whether an open file lies where its path says: a link that was put in the place of a directory on the way, below the
 * configured path, leads to a file that nobody configured. Links on the way to the configured path are the operator's.
 * @param path byte string @param root the configured path it lies at or below, a byte string
 * @throws the file system's error
 */
export function liesAt(descriptor: number, path: string, root: string): boolean {
  const prefix = root === '/' ? '' : root;
  const real = realpathSync.native(bytesOf(root), { encoding: 'buffer' }).toString('latin1');
  const opened = readlinkSync(`/proc/self/fd/${descriptor}`, { encoding: 'buffer' }).toString('latin1');
  return opened === (real === '/' ? '' : real) + path.slice(prefix.length);
}
