import { randomBytes } from 'node:crypto';
import { lstatSync, opendirSync, openSync, readdirSync, renameSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { withRegularFileSync } from '../../../lib/files/regular-file.js';
import { statedMd5 } from './copy-format.js';
import { copyName } from './copy-name.js';
import { makeFolder, OwnFolder } from './own-folder.js';

const COPY = 'last-entry.gz';
const COPY_MODE = 0o600;
/** Names that a walk of the copies gives at a time. */
const NAMES_AT_A_TIME = 1000;

/** A copy that is there. */
export type StoredCopy = {
  /** Good until the next `await`. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Of its content, where it is known without unpacking. */
  readonly md5: string | undefined;
};

/** A copy that is being made. */
export type NewCopy = { readonly name: string; readonly fd: number };

/**
 * Copies on disk (integrity-and-inventory.md 3.10): `queue/diff/file/<sha1 of the path>/last-entry.gz`, and those that
 * wait under `queue/diff/tmp`. They are not forced to disk: one that a power cut damaged is found out when it is unpacked,
 * and made anew.
 */
export class CopyStore {
  readonly #files: OwnFolder;
  readonly #waiting: OwnFolder;

  /** @param home of the daemon */
  constructor(home: string) {
    this.#files = new OwnFolder(home, 'queue', 'diff', 'file');
    this.#waiting = new OwnFolder(home, 'queue', 'diff', 'tmp');
  }

  /** Name of the copy of a file. @param path byte string */
  nameOf(path: string): string {
    return copyName(path);
  }

  /** @param path of the file, a byte string @throws the file system's error */
  find(path: string): StoredCopy | undefined {
    const folder = this.#files.at(copyName(path));
    const copy = `${folder}/${COPY}`;
    // A link in the place of the folder would lead elsewhere: what is not a folder holds no copy.
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
    if (lstatSync(copy, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    return withRegularFileSync(copy, (fd, { size }) => ({ path: copy, size, md5: statedMd5(fd) }));
  }

  /** Begins a copy; its file is to be closed by the caller. @throws the file system's error */
  create(): NewCopy {
    const name = `tmp-entry-${randomBytes(8).toString('hex')}.gz`;
    return { name, fd: openSync(this.waiting(name), 'wx+', COPY_MODE) };
  }

  /** Path of a copy that waits. @throws the file system's error */
  waiting(name: string): string {
    return this.#waiting.at(name);
  }

  /** Puts a copy in its place, as a whole. @returns bytes it takes more than what was there @throws the file system's error */
  put(name: string, path: string): number {
    const folder = this.#files.at(copyName(path));
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) unlinkSync(folder);
    makeFolder(folder);
    const before = sizeOf(`${folder}/${COPY}`);
    const waiting = this.waiting(name);
    const after = sizeOf(waiting);
    renameSync(waiting, `${folder}/${COPY}`);
    return after - before;
  }

  /** Drops a copy that waits. @throws the file system's error */
  drop(name: string): void {
    rmSync(this.waiting(name), { force: true });
  }

  /** @param name of the folder @returns bytes it took @throws the file system's error */
  remove(name: string): number {
    const folder = this.#files.at(name);
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return 0;
    if (!stats.isDirectory()) {
      unlinkSync(folder);
      return 0;
    }
    const size = sizeOf(`${folder}/${COPY}`);
    rmSync(`${folder}/${COPY}`, { force: true });
    rmdirSync(folder);
    return size;
  }

  /** Drops all copies that wait: whoever waited for them is gone at the start. @throws the file system's error */
  dropWaiting(): void {
    const folder = this.#waiting.path;
    for (const name of readdirSync(folder)) rmSync(`${folder}/${name}`, { force: true });
  }

  /** Names of all copies, in groups. @throws the file system's error */
  *names(): Generator<string[], void, undefined> {
    const dir = opendirSync(this.#files.path);
    try {
      let names: string[] = [];
      for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) {
        if (/^[0-9a-f]{40}$/.test(entry.name)) names.push(entry.name);
        if (names.length >= NAMES_AT_A_TIME) {
          yield names;
          names = [];
        }
      }
      yield names;
    } finally {
      dir.closeSync();
    }
  }

  /** Bytes that all copies take. @throws the file system's error */
  measure(): number {
    let bytes = 0;
    for (const names of this.names()) for (const name of names) bytes += sizeOf(this.#files.at(`${name}/${COPY}`));
    return bytes;
  }

  close(): void {
    this.#files.close();
    this.#waiting.close();
  }
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
