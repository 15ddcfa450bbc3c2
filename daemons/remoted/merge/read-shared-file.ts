import { closeSync, fstatSync, readSync } from 'node:fs';
import { isErrno } from '../../../lib/files/is-errno.js';
import { NotRegularFileError, openRegularFileSync } from '../../../lib/files/regular-file.js';
import type { Breather } from './breather.js';
import { stampOf } from './scan-folder.js';
import { CHUNK_BYTES } from './shared-limits.js';

/** What reading a file gave. `changed`: it is not what was expected, or changed meanwhile. */
export type ReadFile =
  | { readonly kind: 'read'; readonly content: Buffer; readonly stamp: string }
  | { readonly kind: 'changed' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'too_large'; readonly size: number };

/**
 * Reads a regular file as it is at one moment. Links are not followed and pipes not waited for.
 * @param stamp the file must have (`stampOf`); any when undefined
 * @throws the file system's error
 */
export async function readSharedFile(
  path: string,
  mostBytes: number,
  breather: Breather,
  stamp?: string,
): Promise<ReadFile> {
  let opened: ReturnType<typeof openRegularFileSync>;
  try {
    opened = openRegularFileSync(path);
  } catch (error) {
    if (error instanceof NotRegularFileError || isErrno(error, 'ENOENT', 'ENOTDIR')) return { kind: 'absent' };
    throw error;
  }
  const { fd, stats: before } = opened;
  try {
    const found = stampOf(before);
    if (stamp !== undefined && found !== stamp) return { kind: 'changed' };
    const { size } = before;
    if (size > mostBytes) return { kind: 'too_large', size };
    const content = Buffer.allocUnsafeSlow(size);
    for (let at = 0; at < size;) {
      await breather.breathe();
      const bytes = readSync(fd, content, at, Math.min(CHUNK_BYTES, size - at), at);
      if (bytes === 0) return { kind: 'changed' };
      at += bytes;
    }
    return stampOf(fstatSync(fd)) === found ? { kind: 'read', content, stamp: found } : { kind: 'changed' };
  } finally {
    closeSync(fd);
  }
}
