import { closeSync, statSync } from 'node:fs';
import { isErrno } from '../../../../lib/files/is-errno.js';
import { openBelow, readFileBelow } from '../../../../lib/files/read-below.js';
import { NotRegularFileError } from '../../../../lib/files/regular-file.js';
import { directoryNames } from './host-files.js';
import type { ScanNotes } from './scan-notes.js';

/** Names that are taken of one directory. */
const MOST_NAMES = 10_000;

/** What is looked at below one place: who fills it must not keep root at work. */
export type PlaceLimits = { readonly files: number; readonly bytes: number; readonly names: number };

/** Of a place that packages are installed to. */
const PLACE_LIMITS: PlaceLimits = { files: 20_000, bytes: 256 * 1024 * 1024, names: 500_000 };

/**
 * Files below a place that others than root may write to: hostile. No link is followed on the way, no pipe is waited for, and what
 * is larger or more than the limits is noted and left out. Calls block: it is for a thread.
 */
export class UserFiles {
  readonly base: string;
  readonly notes: ScanNotes;
  readonly #limits: PlaceLimits;
  #files = 0;
  #bytes = 0;
  #names = 0;

  /** @param base as the system calls take it; it may be a link itself */
  constructor(base: string, notes: ScanNotes, limits: PlaceLimits = PLACE_LIMITS) {
    this.base = base;
    this.notes = notes;
    this.#limits = limits;
  }

  /** Whether the place is a directory at all. */
  get exists(): boolean {
    try {
      return statSync(this.base).isDirectory();
    } catch {
      return false;
    }
  }

  /** @param path relative to the place @returns undefined where there is none, or none that may be read */
  read(path: string, mostBytes: number): Buffer | undefined {
    if (!this.#spend(path)) return undefined;
    try {
      const bytes = readFileBelow(this.base, path, mostBytes);
      this.#bytes += bytes.length;
      return bytes;
    } catch (error) {
      this.#refuse(path, error);
      return undefined;
    }
  }

  /** What is in a directory, sorted. @param path relative to the place; `.` is the place */
  names(path: string): string[] {
    if (!this.#spend(path)) return [];
    const more = (): void => this.notes.add('too_many', `${this.base}/${path}`);
    const listed = (directory: string): string[] => {
      const names = directoryNames(directory, Math.min(MOST_NAMES, this.#limits.names - this.#names), more);
      this.#names += names.length;
      return names.sort();
    };
    try {
      if (path === '.') return listed(this.base);
      const fd = openBelow(this.base, path);
      try {
        return listed(`/proc/self/fd/${String(fd)}`);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      this.#refuse(path, error);
      return [];
    }
  }

  /** Its JSON; undefined where there is none, or what is none, which is noted. */
  json(path: string, mostBytes: number): unknown {
    const bytes = this.read(path, mostBytes);
    if (bytes === undefined) return undefined;
    try {
      return JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
    } catch {
      this.notes.add('malformed', `${this.base}/${path}`);
      return undefined;
    }
  }

  #spend(path: string): boolean {
    this.#files += 1;
    if (this.#files <= this.#limits.files && this.#bytes <= this.#limits.bytes) return true;
    this.notes.add('too_many', `${this.base}/${path}`);
    return false;
  }

  #refuse(path: string, error: unknown): void {
    if (isErrno(error, 'ENOENT')) return;
    const isOther = error instanceof NotRegularFileError || isErrno(error, 'ENOTDIR', 'ELOOP');
    // A directory that is a file, or a link: nothing to be read, and in most places nothing unusual.
    if (isOther) return;
    this.notes.add(error instanceof RangeError ? 'too_large' : 'unreadable', `${this.base}/${path}`);
  }
}
