import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../../lib/files/is-errno.js';
import { openRealDirectory } from '../../../lib/files/open-real-directory.js';
import { stampOf } from './scan-set.js';

/** As the product's own files of groups and rules (daemons-and-config.md 10.2). */
const FILE_MODE = 0o660;
const FOLDER_MODE = 0o770;
/** Names of contents that wait beside their place: everybody leaves out what begins and ends so. */
const WAITING = /^\.cluster-[0-9a-f]{16}\.tmp$/;

type Staged = { readonly path: string; readonly temporary: string };

/**
 * Changes files below one folder. All new contents lie beside their places, on the disk, before the first of them is
 * switched; folders are gone through by descriptors, so a link on the way, planted or not, leads nowhere.
 */
export class SetWriter {
  readonly #folder: string;
  readonly #staged: Staged[] = [];
  readonly #touched = new Set<string>();

  /** @param folder absolute; it is there */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Puts a content beside its place. @throws the file system's error */
  stage(path: string, content: Buffer): void {
    const temporary = `.cluster-${randomBytes(8).toString('hex')}.tmp`;
    this.#within(path, true, (directory) => {
      const fd = openSync(`${directory}/${temporary}`, 'wx', FILE_MODE);
      this.#staged.push({ path, temporary });
      try {
        fchmodSync(fd, FILE_MODE);
        for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
    });
  }

  /** Whether a file is still what a scan saw; undefined stands for none. @throws the file system's error */
  isStill(path: string, stamp: string | undefined): boolean {
    try {
      return this.#within(path, false, (directory, name) => {
        const stats = lstatSync(`${directory}/${name}`, { throwIfNoEntry: false });
        // What is no regular file is none of the set.
        return stats?.isFile() === true ? stampOf(stats) === stamp : stamp === undefined;
      });
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return stamp === undefined;
      throw error;
    }
  }

  /**
   * Switches what was staged, path by path.
   * @param unchanged asked for each path right before; the first no ends it
   * @returns false when it was ended: what is done by then stays
   */
  switch(unchanged: (path: string) => boolean): boolean {
    while (this.#staged.length > 0) {
      const [next] = this.#staged;
      if (next === undefined || !unchanged(next.path)) return false;
      this.#within(next.path, false, (directory, name) => {
        renameSync(`${directory}/${next.temporary}`, `${directory}/${name}`);
      });
      this.#staged.shift();
      this.#touched.add(folderOf(next.path));
    }
    return true;
  }

  /** Removes a file, and the folders that are empty then. @throws the file system's error */
  remove(path: string): void {
    try {
      this.#within(path, false, (directory, name) => {
        unlinkSync(`${directory}/${name}`);
      });
    } catch (error) {
      if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw error;
    }
    this.#touched.add(folderOf(path));
  }

  /** Removes folders that lost their last file. @param keep folders that stay all the same, such as `rules` */
  tidy(keep: readonly string[]): void {
    for (let folder of this.#touched) {
      while (folder !== '' && !keep.includes(folder)) {
        try {
          this.#within(folder, false, (directory, name) => {
            rmdirSync(`${directory}/${name}`);
          });
        } catch {
          break;
        }
        folder = folderOf(folder);
      }
    }
  }

  /** Has the names on the disk. */
  sync(): void {
    for (const folder of new Set(['', ...this.#touched])) {
      try {
        const fd = openRealDirectory(join(this.#folder, folder));
        try {
          fsyncSync(fd);
        } finally {
          closeSync(fd);
        }
      } catch {
        // Gone with its last file, or a file system that cannot: a start repairs what is missing.
      }
    }
  }

  /** Takes back what was staged and not switched. */
  discard(): void {
    for (const { path, temporary } of this.#staged.splice(0)) {
      try {
        this.#within(path, false, (directory) => {
          rmSync(`${directory}/${temporary}`, { force: true });
        });
      } catch {
        // A start sweeps it.
      }
    }
  }

  /** @param make whether folders that are missing are made */
  #within<T>(path: string, make: boolean, work: (directory: string, name: string) => T): T {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    let fd = openRealDirectory(this.#folder);
    try {
      for (const part of parts) {
        const below = `/proc/self/fd/${String(fd)}/${part}`;
        if (make) makeFolder(below);
        const next = openRealDirectory(below);
        closeSync(fd);
        fd = next;
      }
      return work(`/proc/self/fd/${String(fd)}`, name);
    } finally {
      closeSync(fd);
    }
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
    const fd = openRealDirectory(path);
    try {
      fchmodSync(fd, FOLDER_MODE);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Removes contents that a process left beside their places when it died. @throws the file system's error */
export function sweepStaged(folder: string, deep: boolean): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isFile() && WAITING.test(entry.name)) rmSync(path, { force: true });
    else if (deep && entry.isDirectory()) sweepStaged(path, deep);
  }
}
