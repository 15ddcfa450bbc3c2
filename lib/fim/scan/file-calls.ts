import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';

/** The system calls a file is read with, so that tests can let the world change between two of them. */
export interface FileCalls {
  /** Undefined when there is nothing. */
  lstat(path: Buffer): BigIntStats | undefined;
  /** Never follows a link in the last place, never waits for the other end of a fifo, never becomes a terminal's owner. */
  open(path: Buffer): number;
  fstat(descriptor: number): BigIntStats;
  /** @returns bytes read; 0 at the end */
  read(descriptor: number, into: Buffer, length: number): number;
  close(descriptor: number): void;
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** Those of the system. Beside `openRegularFileSync`: one call each, and whoever looks judges what is no file. */
export const SYSTEM_CALLS: FileCalls = {
  lstat: (path) => lstatSync(path, { bigint: true, throwIfNoEntry: false }),
  open: (path) => openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY),
  fstat: (descriptor) => fstatSync(descriptor, { bigint: true }),
  read: (descriptor, into, length) => readSync(descriptor, into, 0, length, null),
  close: closeSync,
};
