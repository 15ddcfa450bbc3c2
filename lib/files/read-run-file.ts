import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Largest file of `var/run` that is read: records and last words have some kilobytes. */
const MAX_BYTES = 1_048_576;

/** Whether what a file says of process `pid` is believed, given the user who wrote it. */
export type WriterCheck = (writer: number, pid: number) => boolean;

/** A small file of `var/run` and the user it belongs to. */
export type RunFile = { readonly text: string; readonly writer: number };

/**
 * Reads a file that another user may have made: no link is followed and nothing but a regular file is read.
 * @throws the file system's error
 */
export function readRunFile(path: string): RunFile {
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error(`'${path}' is not a small regular file`);
    return { text: readFileSync(fd, 'utf8'), writer: stats.uid };
  } finally {
    closeSync(fd);
  }
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
