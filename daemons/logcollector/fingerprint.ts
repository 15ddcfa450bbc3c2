import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** Bytes at the beginning of a file by which it is known again: a log that was written anew begins otherwise. */
export const HEAD_BYTES = 65_536;
/** Bytes before the position that must still be there: what was cut and grew again beyond it ends otherwise. */
const TAIL_BYTES = 64;
/** A position that names no length was hashed from the beginning of the file; beyond this it is not verified. */
const MAX_HASHED_BYTES = 1024 ** 3;
const CHUNK_BYTES = 1024 * 1024;
/** What `hashHead` gives for no bytes. */
export const EMPTY_HASH = createHash('sha1').digest('hex');

/**
 * SHA-1 in hex of the first `length` bytes; undefined when the file is shorter, or the length beyond what is looked at.
 * The hash tells files apart; nobody's security rests on it.
 */
export async function hashHead(handle: FileHandle, length: number): Promise<string | undefined> {
  if (length > MAX_HASHED_BYTES) {
    return undefined;
  }
  const hash = createHash('sha1');
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, length)));
  for (let at = 0; at < length;) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, length - at), at);
    if (bytesRead === 0) {
      return undefined;
    }
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest('hex');
}

/** The last bytes before `offset`, in hex; undefined when the file is shorter. */
export async function readTail(handle: FileHandle, offset: number): Promise<string | undefined> {
  const length = Math.min(TAIL_BYTES, offset);
  const buffer = Buffer.allocUnsafe(length);
  for (let at = 0; at < length;) {
    const { bytesRead } = await handle.read(buffer, at, length - at, offset - length + at);
    if (bytesRead === 0) {
      return undefined;
    }
    at += bytesRead;
  }
  return buffer.toString('hex');
}

/** The last bytes before the end of `bytes`, as `readTail` gives them, going on from an earlier tail. */
export function nextTail(tail: string, bytes: Buffer): string {
  const own = bytes.subarray(-TAIL_BYTES).toString('hex');
  return (tail + own).slice(-2 * TAIL_BYTES);
}
