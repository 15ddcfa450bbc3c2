import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { withRegularFileSync } from './regular-file.js';

/** Largest file of `var/run` that is read: records and last words have some kilobytes. */
const MAX_BYTES = 1_048_576;

/** Whether what a file says of process `pid` is believed, given the user who wrote it. */
export type WriterCheck = (writer: number, pid: number) => boolean;

/** A small file of `var/run` and the user it belongs to. */
export type RunFile = { readonly text: string; readonly writer: number };

/**
 * Reads a file that another user may have made: no link is followed and nothing but a regular file is read.
 * @throws NotRegularFileError; Error for a large one; the file system's error
 */
export function readRunFile(path: string): RunFile {
  return withRegularFileSync(path, (fd, { size, uid }) => {
    if (size > MAX_BYTES) throw new Error(`'${path}' has ${String(size)} bytes, ${String(MAX_BYTES)} are read`);
    return { text: readFileSync(fd, 'utf8'), writer: uid };
  });
}

/**
 * Whether this process believes a user who wrote a file beside others: root believes itself and whoever owns the
 * directory (in an installed home root again). Other users only risk themselves and believe everybody.
 */
export function isBelieved(path: string, writer: number): boolean {
  if (process.geteuid?.() !== 0 || writer === 0) return true;
  return statSync(dirname(path), { throwIfNoEntry: false })?.uid === writer;
}

/** Belief in whoever {@link isBelieved}, whatever process is named. */
export function believeOwner(path: string): WriterCheck {
  return (writer) => isBelieved(path, writer);
}
