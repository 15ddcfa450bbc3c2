import { closeSync, fchmodSync, fchownSync, fstatSync, type Stats, statSync, writeSync } from 'node:fs';
import { isErrno } from '../files/is-errno.js';
import { openSharedFile } from '../files/open-own-file.js';

/** Log files are shared by all daemons of a home: group-writable (daemons-and-config.md 3.7). */
const LOG_FILE_MODE = 0o660;

/**
 * A log file that several processes append to. Every line is one `write` on a descriptor opened with O_APPEND, so
 * lines of different daemons never mix; the file is opened again when its name leads to another inode (rotation).
 * A line that cannot be written is counted, and the count is told by a line of its own as soon as writing works again.
 */
export class LogFile {
  readonly path: string;
  readonly #owner: { readonly uid: number; readonly gid: number } | undefined;
  readonly #lostLine: (count: number, reason: string) => string;
  #fd: number | undefined;
  #identity: Pick<Stats, 'dev' | 'ino'> | undefined;
  #lost = 0;
  #lostReason = '';
  #torn = false;

  /**
   * @param lostLine makes the line that reports how many lines were lost, in the format of this file
   * @param owner given to a file that is created here; only root may name another user
   */
  constructor(
    path: string,
    lostLine: (count: number, reason: string) => string,
    owner?: { readonly uid: number; readonly gid: number },
  ) {
    this.path = path;
    this.#lostLine = lostLine;
    this.#owner = owner;
  }

  /** Opens the file now. @throws the file system's error when it cannot be written */
  open(): void {
    this.#reopen();
  }

  /** Appends one line, without its newline. Never throws: a full disk must not stop a daemon. */
  append(line: string): void {
    try {
      const fd = this.#current();
      if (this.#lost > 0) {
        const report = this.#lostLine(this.#lost, this.#lostReason);
        this.#write(fd, report);
        this.#lost = 0;
      }
      this.#write(fd, line);
    } catch (error) {
      this.#lost += 1;
      this.#lostReason = error instanceof Error ? error.message : String(error);
    }
  }

  /** Lines lost and not reported yet. */
  get lost(): number {
    return this.#lost;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #write(fd: number, line: string): void {
    // After a torn write (disk full) the rest of that line is lost; the next one starts on a line of its own.
    const bytes = Buffer.from(`${(this.#torn ? '\n' : '') + line}\n`);
    const written = writeSync(fd, bytes);
    this.#torn = written < bytes.length;
    if (this.#torn) throw new Error('the disk took only a part of a line');
  }

  #current(): number {
    if (this.#fd !== undefined && this.#identity !== undefined) {
      const now = statSync(this.path, { throwIfNoEntry: false });
      if (now !== undefined && now.ino === this.#identity.ino && now.dev === this.#identity.dev) return this.#fd;
    }
    return this.#reopen();
  }

  #reopen(): number {
    const { fd, made } = openSharedFile(this.path, LOG_FILE_MODE);
    if (made) {
      // The umask of daemons takes group write away; only whoever creates the file may give it back.
      fchmodSync(fd, LOG_FILE_MODE);
      if (this.#owner !== undefined) giveAway(fd, this.#owner);
    }
    this.close();
    this.#fd = fd;
    this.#identity = fstatSync(fd);
    return fd;
  }
}

/** A root daemon without the capability to give files away leaves it to the group, which may write to it all the same. */
function giveAway(fd: number, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  try {
    fchownSync(fd, uid, gid);
  } catch (error) {
    if (!isErrno(error, 'EPERM')) throw error;
  }
}
