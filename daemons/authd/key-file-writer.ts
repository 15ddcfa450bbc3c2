import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ifPresent } from '../../lib/files/if-present.js';
import { isErrno } from '../../lib/files/is-errno.js';
import { NotRegularFileError, openRegularFile, withRegularFile } from '../../lib/files/regular-file.js';
import { syncDirectory } from '../../lib/files/sync-directory.js';

/** The file's mark when there is none. */
export const MISSING = 'missing';

const NEWLINE = 0x0a;
/** More than any line that is added: id, name, address and key (agents-and-groups.md 1.2). */
const MAX_LINE_BYTES = 4096;
const ADDING_MODE = 0o600;

/** Owner of a file, where this process may set one. */
export type KeyFileOwner = { readonly uid: number; readonly gid: number };

/**
 * What became of lines: they are there, and the file's new mark; somebody else changed or replaced the file, which has to be
 * read again; or it cannot be opened, as a link, and has to be replaced.
 */
export type AppendResult =
  | { readonly outcome: 'done'; readonly mark: string }
  | { readonly outcome: 'changed' }
  | { readonly outcome: 'closed' };

/**
 * Writes files that must be there whole after a crash: replaced at once, or grown by lines. A mark tells whether somebody
 * else has changed a file since.
 */
export class KeyFileWriter {
  readonly #owner: KeyFileOwner | undefined;

  constructor(owner: KeyFileOwner | undefined) {
    this.#owner = owner;
  }

  /**
   * Puts a new file in the place of the old one, durably.
   * @param expected the mark that the old one must have, looked at last: what somebody has edited meanwhile is not lost
   * @returns its mark; undefined when the old one has another than it must have, and is there
   * @throws the file system's error; the old file is there then
   */
  async replace(path: string, content: Buffer, mode: number, expected?: string): Promise<string | undefined> {
    const temporary = temporaryOf(path);
    // The directory belongs to the service's user: whatever stands under the temporary name is not followed.
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', mode);
    let mark: string;
    try {
      await file.chmod(mode);
      if (this.#owner !== undefined) await file.chown(this.#owner.uid, this.#owner.gid);
      await file.writeFile(content);
      await file.sync();
      mark = markOf(await file.stat({ bigint: true }));
    } finally {
      await file.close();
    }
    if (expected !== undefined && (await this.mark(path)) !== expected) {
      await rm(temporary, { force: true });
      return undefined;
    }
    await rename(temporary, path);
    await syncDirectory(dirname(path));
    return mark;
  }

  /**
   * Adds lines to the end of the file, durably. What a crash leaves of them `recover` mends: a mark beside the file says
   * that lines were being added, since a line without an end may also be somebody's who edits the file.
   * @param expected the mark that the file must have
   * @throws the file system's error; `recover` is needed then
   */
  async append(path: string, lines: Buffer, expected: string | undefined): Promise<AppendResult> {
    const file = await openRegularFile(path, { access: 'append' }).catch(() => undefined);
    if (file === undefined) return { outcome: 'closed' };
    try {
      const before = await file.stat({ bigint: true });
      if (markOf(before) !== expected) return { outcome: 'changed' };
      await withRegularFile(addingOf(path), () => Promise.resolve(), { access: 'write', makeMode: ADDING_MODE });
      try {
        await file.writeFile(lines);
        await file.sync();
        await rm(addingOf(path));
      } catch (error) {
        // None of them was answered.
        await file.truncate(Number(before.size)).catch(() => {});
        throw error;
      }
      const mark = markOf(await file.stat({ bigint: true }));
      const alone = mark === (await this.mark(path)) && sizeOf(mark) === before.size + BigInt(lines.length);
      return alone ? { outcome: 'done', mark } : { outcome: 'changed' };
    } finally {
      await file.close();
    }
  }

  /** Takes away what `replace` has left beside the file. @throws the file system's error */
  async clean(path: string): Promise<void> {
    await rm(temporaryOf(path), { force: true });
  }

  /**
   * Takes away what `append` has left: the last line, when it is not whole.
   * @returns bytes cut off
   * @throws the file system's error
   */
  async recover(path: string): Promise<number> {
    if ((await this.mark(addingOf(path))) === MISSING) return 0;
    const file = await openRegularFile(path, { access: 'update' }).catch((error: unknown) => {
      // What lines were added to is gone, or something else stands in its place, which has none of them.
      if (!(error instanceof NotRegularFileError || isErrno(error, 'ENOENT'))) throw error;
      return undefined;
    });
    if (file === undefined) {
      await rm(addingOf(path));
      return 0;
    }
    try {
      const { size } = await file.stat();
      const whole = await endOfLastLine(file, size);
      if (whole < size) {
        await file.truncate(whole);
        await file.sync();
      }
      await rm(addingOf(path));
      return size - whole;
    } finally {
      await file.close();
    }
  }

  /** The mark of the file as it is now. @throws the file system's error, unless there is no file */
  async mark(path: string): Promise<string> {
    const stats = await ifPresent(() => stat(path, { bigint: true }));
    return stats === undefined ? MISSING : markOf(stats);
  }
}

function temporaryOf(path: string): string {
  return `${path}.new`;
}

/** A mark that stands there while lines are added. */
function addingOf(path: string): string {
  return `${path}.adding`;
}

/** Bytes up to the last newline. */
async function endOfLastLine(file: FileHandle, size: number): Promise<number> {
  const from = Math.max(0, size - MAX_LINE_BYTES);
  const tail = Buffer.alloc(size - from);
  await file.read(tail, 0, tail.length, from);
  const newline = tail.lastIndexOf(NEWLINE);
  return newline < 0 && from > 0 ? size : from + newline + 1;
}

function markOf({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino} ${mtimeNs} ${size}`;
}

function sizeOf(mark: string): bigint {
  return BigInt(mark.slice(mark.lastIndexOf(' ') + 1));
}
