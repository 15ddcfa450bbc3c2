import { fstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, open, truncate, unlink } from 'node:fs/promises';
import { openRegularFile } from '../files/regular-file.js';
import { syncDirectory } from '../files/sync-directory.js';

export const JOURNAL_FILE_MODE = 0o640;
export const JOURNAL_DIRECTORY_MODE = 0o750;

/** A file the journal writes. Every method rejects with the system's error, which names the file. */
export interface JournalFile {
  /** Writes all of the buffers one after the other from a byte of the file on. After an error a part may be written. */
  write(buffers: readonly Buffer[], at: number): Promise<void>;
  /** Resolves when what was written is on the disk (fdatasync). */
  sync(): Promise<void>;
  truncate(bytes: number): Promise<void>;
  /** Whether the file is still found under its name: an open file takes writes after it was deleted. */
  isInPlace(): boolean;
  close(): Promise<void>;
}

/** What the journal asks of the file system where it changes something. */
export interface JournalFiles {
  /** Makes the directory, with its parents, unless it is there. @returns whether it was not */
  makeDirectory(path: string): boolean;
  /** Opens a file for writing; with `create` one that must not be there yet. */
  open(path: string, create: boolean): Promise<JournalFile>;
  truncate(path: string, bytes: number): Promise<void>;
  remove(path: string): Promise<void>;
  /** Resolves when names made in or removed from the directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
}

/** The real file system. */
export const systemFiles: JournalFiles = {
  makeDirectory(path) {
    return mkdirSync(path, { recursive: true, mode: JOURNAL_DIRECTORY_MODE }) !== undefined;
  },
  async open(path, create) {
    const handle = create
      ? await open(path, 'wx+', JOURNAL_FILE_MODE)
      : await openRegularFile(path, { access: 'update' });
    try {
      if (create) await handle.chmod(JOURNAL_FILE_MODE);
      return new SystemFile(path, handle, await handle.stat());
    } catch (error) {
      await handle.close();
      throw error;
    }
  },
  truncate,
  remove: unlink,
  syncDirectory,
};

class SystemFile implements JournalFile {
  constructor(
    readonly path: string,
    readonly handle: FileHandle,
    readonly opened: Stats,
  ) {}

  async write(buffers: readonly Buffer[], at: number): Promise<void> {
    let rest = buffers;
    let position = at;
    while (rest.length > 0) {
      const { bytesWritten } = await this.#named(this.handle.writev(rest, position));
      position += bytesWritten;
      rest = behind(rest, bytesWritten);
    }
  }

  async sync(): Promise<void> {
    await this.#named(this.handle.datasync());
  }

  async truncate(bytes: number): Promise<void> {
    await this.#named(this.handle.truncate(bytes));
  }

  isInPlace(): boolean {
    const now = statSync(this.path, { throwIfNoEntry: false });
    // Some network file systems give a file another number while it is open.
    return now !== undefined && (isSameFile(now, this.opened) || isSameFile(now, fstatSync(this.handle.fd)));
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  /** The system's error of a descriptor does not name its file, and whoever reads it must know which disk is full. */
  async #named<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (error) {
      throw error instanceof Error ? Object.assign(error, { path: this.path }) : error;
    }
  }
}

function isSameFile(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

/** What is left of buffers whose first bytes were written. */
function behind(buffers: readonly Buffer[], bytes: number): readonly Buffer[] {
  let left = bytes;
  for (const [index, buffer] of buffers.entries()) {
    if (left < buffer.length) return [buffer.subarray(left), ...buffers.slice(index + 1)];
    left -= buffer.length;
  }
  return [];
}
