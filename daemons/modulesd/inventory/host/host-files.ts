import { opendirSync, readlinkSync, readSync } from 'node:fs';
import { isErrno } from '../../../../lib/files/is-errno.js';
import { withRegularFileSync } from '../../../../lib/files/regular-file.js';
import type { ScanNotes } from './scan-notes.js';

/** Longest file of the system that is read, bytes: a list of 20,000 packages has some 20 MiB. */
const MAX_SYSTEM_FILE_BYTES = 64 * 1024 * 1024;
/** Names that are taken of a directory of the system: /proc of a busy host has some ten thousand. */
const MOST_NAMES = 100_000;
/** What is read at a time: files of /proc do not say how long they are. */
const PIECE_BYTES = 64 * 1024;

/**
 * Files of the system: what root alone writes, or the kernel. Who else may put files somewhere is read by `UserFiles`. Calls
 * block: it is for a thread.
 */
export class HostFiles {
  readonly notes: ScanNotes;
  readonly #root: string;
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES);

  /** @param root directory that stands for `/` */
  constructor(root: string, notes: ScanNotes) {
    this.#root = root.replace(/\/+$/, '');
    this.notes = notes;
  }

  /** Where something lies, as the system calls take it. @param path from the root, with a slash in front */
  at(path: string): string {
    return this.#root + path;
  }

  /**
   * A file whose rows would be missing without it.
   * @returns undefined where there is none
   * @throws the file system's error; RangeError when it is larger than `mostBytes`
   */
  required(path: string, mostBytes = MAX_SYSTEM_FILE_BYTES): Buffer | undefined {
    try {
      return this.#read(path, mostBytes);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  /** A file that only adds something, or that goes when its process ends: what cannot be read is noted. */
  optional(path: string, mostBytes = MAX_SYSTEM_FILE_BYTES): Buffer | undefined {
    try {
      return this.#read(path, mostBytes);
    } catch (error) {
      if (!isAbsent(error)) this.notes.add(error instanceof RangeError ? 'too_large' : 'unreadable', path);
      return undefined;
    }
  }

  /** The first bytes of such a file: who made it may have made it long. */
  beginning(path: string, bytes: number): Buffer | undefined {
    try {
      return withRegularFileSync(this.at(path), (fd) => this.#readToEnd(fd, bytes, false), { follow: true });
    } catch (error) {
      if (!isAbsent(error)) this.notes.add('unreadable', path);
      return undefined;
    }
  }

  /** Its text, without the end of the line; empty where there is none. */
  line(path: string): string {
    return this.optional(path, PIECE_BYTES)?.toString('utf8').trim() ?? '';
  }

  /** The text of a file that only adds something; empty where there is none. */
  text(path: string): string {
    return this.optional(path)?.toString('utf8') ?? '';
  }

  /** What is in a directory, sorted; empty where there is none. More than `most` is noted. */
  names(path: string, most = MOST_NAMES): string[] {
    try {
      return directoryNames(this.at(path), most, () => this.notes.add('too_many', path)).sort();
    } catch (error) {
      if (!isAbsent(error)) this.notes.add('unreadable', path);
      return [];
    }
  }

  /** Where a link leads to; undefined for what is none. */
  link(path: string): string | undefined {
    try {
      return readlinkSync(this.at(path));
    } catch {
      return undefined;
    }
  }

  #read(path: string, mostBytes: number): Buffer {
    return withRegularFileSync(this.at(path), (fd) => this.#readToEnd(fd, mostBytes, true), { follow: true });
  }

  /** Reads until nothing more comes. @throws RangeError when that is more than `mostBytes` and the file is wanted whole */
  #readToEnd(fd: number, mostBytes: number, whole: boolean): Buffer {
    const pieces: Buffer[] = [];
    let length = 0;
    for (;;) {
      const read = readSync(fd, this.#piece, 0, PIECE_BYTES, null);
      if (read === 0) return Buffer.concat(pieces, length);
      pieces.push(Buffer.from(this.#piece.subarray(0, read)));
      length += read;
      if (length <= mostBytes) continue;
      if (whole) throw new RangeError(`larger than ${String(mostBytes)} bytes`);
      return Buffer.concat(pieces, mostBytes);
    }
  }
}

/** Names of a directory, in the order of the system. @param more called once when there are more. @throws its error */
export function directoryNames(path: string, most: number, more: () => void): string[] {
  const directory = opendirSync(path);
  try {
    const names: string[] = [];
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (names.length >= most) {
        more();
        break;
      }
      names.push(entry.name);
    }
    return names;
  } finally {
    directory.closeSync();
  }
}

/** There is nothing, or its process has ended. */
function isAbsent(error: unknown): boolean {
  return isErrno(error, 'ENOENT', 'ENOTDIR', 'ESRCH');
}
