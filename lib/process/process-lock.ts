import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { believeOwner, readRunFile, type WriterCheck } from '../files/read-run-file.js';
import { removeTree } from '../files/remove-tree.js';
import { isAlive, ownIdentity, parseIdentity, type ProcessIdentity } from './process-identity.js';

/** Thrown when another living process holds a lock. */
export class LockHeldError extends Error {
  override readonly name = 'LockHeldError';
  readonly code = 'lock_held';
  readonly holder: ProcessIdentity;

  constructor(path: string, holder: ProcessIdentity) {
    super(`'${path}' is held by process ${holder.pid}`);
    this.holder = holder;
  }
}

/** Tries at taking a lock while others replace a stale one; each waits 10 ms at most. */
const MAX_ATTEMPTS = 200;

/**
 * A lock file that names its holder by pid and start time, so that a lock left behind by a killed process is taken
 * over and a recycled pid does not keep it. It is created complete by `link`, which fails when the name exists; a
 * stale one is replaced only by the process that holds `<path>.takeover`, made in the same way. Root does not believe a
 * lock of the service user (see `isBelieved`): it counts as stale.
 */
export class ProcessLock {
  readonly path: string;
  readonly #content: string;

  private constructor(path: string, content: string) {
    this.path = path;
    this.#content = content;
  }

  /**
   * @throws LockHeldError when a living process holds it; the file system's error when the directory cannot be written
   */
  static acquire(path: string): ProcessLock {
    const content = `${JSON.stringify(ownIdentity())}\n`;
    const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
    writeFileSync(temporary, content, { flag: 'wx', mode: 0o640 });
    try {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        if (tryLink(temporary, path)) return new ProcessLock(path, content);
        const holder = readHolder(path);
        if (holder !== undefined && isAlive(holder)) throw new LockHeldError(path, holder);
        if (replaceStale(temporary, path)) return new ProcessLock(path, content);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
      throw new Error(`'${path}' could not be locked: other processes keep replacing it`);
    } finally {
      unlinkIfThere(temporary);
    }
  }

  /**
   * Living holder of a lock file, undefined when it is free or stale.
   * @param believed who may have written it
   */
  static holder(path: string, believed: WriterCheck = believeOwner(path)): ProcessIdentity | undefined {
    const holder = readHolder(path, believed);
    return holder !== undefined && isAlive(holder) ? holder : undefined;
  }

  /** Gives the lock back. A file that another process has put there in the meantime stays. */
  release(): void {
    try {
      if (readRunFile(this.path).text === this.#content) unlinkSync(this.path);
    } catch {
      // Gone already: nothing to give back.
    }
  }
}

function replaceStale(temporary: string, path: string): boolean {
  const claim = `${path}.takeover`;
  if (!tryLink(temporary, claim)) {
    const claimant = readHolder(claim);
    if (claimant === undefined || !isAlive(claimant)) unlinkIfThere(claim);
    return false;
  }
  try {
    // Only the holder of the claim replaces a stale lock, so what is read here cannot change before the rename.
    const holder = readHolder(path);
    if (holder !== undefined && isAlive(holder)) return false;
    // No lock is a directory: somebody wants it to stay taken.
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) removeTree(path);
    renameSync(temporary, path);
    return true;
  } finally {
    unlinkIfThere(claim);
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(path: string, believed: WriterCheck = believeOwner(path)): ProcessIdentity | undefined {
  try {
    const { text, writer } = readRunFile(path);
    const holder = parseIdentity(JSON.parse(text));
    return holder !== undefined && believed(writer, holder.pid) ? holder : undefined;
  } catch {
    return undefined;
  }
}

function unlinkIfThere(path: string): void {
  try {
    removeTree(path);
  } catch {
    // Another process is about to take it.
  }
}
