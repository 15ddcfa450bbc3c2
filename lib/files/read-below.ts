import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { openRealDirectory } from './open-real-directory.js';
import { NotRegularFileError } from './regular-file.js';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** What is read at a time. */
const PIECE_BYTES = 64 * 1024;

/**
 * Reads a file below a directory without following a link anywhere on the way: who may put files there must not have others
 * shown by whoever reads them.
 * @param base trusted; it may be a link itself
 * @param path relative to it
 * @param maxBytes a larger file, or one that was made to grow meanwhile, is not read
 * @throws RangeError when the file is larger; the file system's error, ELOOP or ENOTDIR for a link;
 * NotRegularFileError
 */
export function readFileBelow(base: string, path: string, maxBytes: number): Buffer {
  const file = openBelow(base, path);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new NotRegularFileError(path);
    if (stats.size > maxBytes) throw new RangeError(`larger than ${maxBytes} bytes`);
    return readToEnd(file, maxBytes);
  } finally {
    closeSync(file);
  }
}

/** Reads until nothing more comes: the size that a file has is not what it may have a moment later. @throws RangeError */
function readToEnd(file: number, maxBytes: number): Buffer {
  const pieces: Buffer[] = [];
  for (let length = 0; ;) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const read = readSync(file, piece, 0, PIECE_BYTES, null);
    if (read === 0) return Buffer.concat(pieces, length);
    pieces.push(piece.subarray(0, read));
    length += read;
    if (length > maxBytes) throw new RangeError(`larger than ${maxBytes} bytes`);
  }
}

/**
 * Opens for reading in the same way, without waiting for a pipe. What it is, the caller judges: a log may be a pipe.
 * @returns the descriptor
 * @throws the file system's error, ELOOP or ENOTDIR for a link; Error for what names no file below
 */
export function openBelow(base: string, path: string): number {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  const last = names.pop();
  if (last === undefined || last === '..' || names.includes('..')) throw new Error(`'${path}' names no file below`);
  let directory = openSync(base, O_RDONLY | O_DIRECTORY);
  try {
    for (const name of names) {
      const next = openRealDirectory(`/proc/self/fd/${directory}/${name}`);
      closeSync(directory);
      directory = next;
    }
    return openSync(`/proc/self/fd/${directory}/${last}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } finally {
    closeSync(directory);
  }
}
