import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { waitUntil } from '../../../lib/async/wait-until.js';
import { isErrno } from '../../../lib/files/is-errno.js';
import { isBelieved, readRunFile } from '../../../lib/files/read-run-file.js';
import { removeTree } from '../../../lib/files/remove-tree.js';
import type { Home } from '../../../lib/home/home.js';
import { isAlive, ownIdentity, parseIdentity } from '../../../lib/process/process-identity.js';

/** How often and how long the lock of another control program is waited for (daemons-and-config.md 3.2). */
const ATTEMPTS = 60;
const WAIT_MS = 1000;

/** A directory without a holder's name belongs to a program that is just writing it, or died before it could. */
const NAMELESS_LIMIT_MS = 5000;

/** Thrown when another control program keeps the lock. */
export class ScriptLockError extends Error {
  override readonly name = 'ScriptLockError';
  readonly code = 'locked';

  constructor(directory: string) {
    super(
      `ERROR: Another instance is locking this process.\nIf you are sure that no other instance is running, please remove ${directory}`,
    );
  }
}

/**
 * Runs `action` while no other `svc-control` starts or stops daemons of this home (daemons-and-config.md 3.2).
 * @param waitMs between two tries, injected by tests
 * @throws ScriptLockError when the lock stays taken
 */
export async function withScriptLock<T>(home: Home, action: () => Promise<T>, waitMs = WAIT_MS): Promise<T> {
  const directory = home.path('var', 'start-script-lock');
  const holder = home.path('var', 'start-script-lock', 'pid');
  const look = (): boolean => {
    if (tryLock(directory, holder)) return true;
    if (!isStale(directory, holder)) return false;
    removeTree(directory);
    return tryLock(directory, holder);
  };
  const isLocked = await waitUntil(look, { everyMs: waitMs, mostMs: ATTEMPTS * waitMs });
  if (isLocked === undefined) throw new ScriptLockError(directory);
  try {
    return await action();
  } finally {
    removeTree(directory);
  }
}

function tryLock(directory: string, holder: string): boolean {
  try {
    mkdirSync(directory, { mode: 0o750 });
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
  const { pid, startTime } = ownIdentity();
  writeFileSync(holder, `${pid}\n${startTime}\n`, { mode: 0o640 });
  return true;
}

function isStale(directory: string, holder: string): boolean {
  // Root's own are root's: one that the service user made could be made to look fresh for ever.
  const owner = lstatSync(directory, { throwIfNoEntry: false })?.uid;
  if (owner !== undefined && !isBelieved(directory, owner)) return true;
  try {
    const { text, writer } = readRunFile(holder);
    const [pid, startTime] = text.split('\n');
    if (!isBelieved(directory, writer)) return true;
    const identity = parseIdentity({ pid: Number(pid), startTime: startTime === '' ? 'unknown' : startTime });
    if (identity !== undefined) return !isAlive(identity);
  } catch {
    // No name in it yet.
  }
  try {
    return Date.now() - lstatSync(directory).mtimeMs > NAMELESS_LIMIT_MS;
  } catch {
    return false;
  }
}
