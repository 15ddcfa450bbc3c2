import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { hashHead, readTail } from './fingerprint.js';
import type { SavedFile } from './position-store.js';

/** Most bytes looked back for the beginning of a line. */
const MAX_LOOK_BACK = 65_536;

/** Whether an open file is the one of which a position was saved: long enough, and with the same bytes before it. */
export async function isSavedFile(handle: FileHandle, stats: BigIntStats, saved: SavedFile): Promise<boolean> {
  const offset = Number(saved.offset);
  if (stats.size < BigInt(offset)) {
    return false;
  }
  if (saved.tail !== undefined && (await readTail(handle, offset))?.endsWith(saved.tail) !== true) {
    return false;
  }
  return (await hashHead(handle, Number(saved.hashed ?? saved.offset))) === saved.hash;
}

/** End of the last complete line: a line that is being written when following begins is an event of the future. */
export async function endOfLastLine(handle: FileHandle, size: number): Promise<number> {
  const start = Math.max(0, size - MAX_LOOK_BACK);
  const buffer = Buffer.allocUnsafe(size - start);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  const newline = buffer.subarray(0, bytesRead).lastIndexOf(10);
  return newline < 0 ? (start === 0 ? 0 : size) : start + newline + 1;
}
