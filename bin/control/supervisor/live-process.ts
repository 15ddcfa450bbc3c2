import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { waitUntil } from '../../../lib/async/wait-until.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { readRunRecord } from '../../../lib/daemon/run-record.js';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { isBelieved, type WriterCheck } from '../../../lib/files/read-run-file.js';
import { removeTree } from '../../../lib/files/remove-tree.js';
import type { Home } from '../../../lib/home/home.js';
import { needsRoot } from '../../../lib/process/drop-privileges.js';
import {
  identityOf,
  isAlive,
  type ProcessIdentity,
  runsProgram,
  userOf,
} from '../../../lib/process/process-identity.js';
import { ProcessLock } from '../../../lib/process/process-lock.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';

/** Time a daemon has to end after SIGTERM before it is killed (daemons-and-config.md 3.1). */
const STOP_WAIT_MS = 30_000;

/** Time a daemon has to answer SIGHUP: a large ruleset takes seconds to load. */
const RELOAD_WAIT_MS = 60_000;

const POLL_MS = 50;

/** How a stop went. */
export type StopOutcome = 'stopped' | 'killed' | 'not-running';

/** How a reload went. */
export type ReloadOutcome =
  | { readonly kind: 'reloaded'; readonly restartNeeded: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not-running' };

/**
 * The living process of a daemon, ready or still starting; undefined when there is none. The service user writes to
 * `var/run` while this process may be root: a process that is not the daemon is not believed to be it, or whoever took
 * over a daemon could have any process of the host ended.
 */
export function liveProcess(files: RunFiles): ProcessIdentity | undefined {
  const record = readRunRecord(files.record(), belief(files.record(), files));
  if (record !== undefined && isDaemon(record, files)) return { pid: record.pid, startTime: record.startTime };
  const holder = ProcessLock.holder(files.lock(), belief(files.lock(), files));
  return holder !== undefined && isDaemon(holder, files) ? holder : undefined;
}

/** Root takes the word of the service user for processes of that user alone, and never for a daemon that root runs. */
function belief(path: string, { daemon }: RunFiles): WriterCheck {
  return (writer, pid) => isBelieved(path, writer) || (!needsRoot(daemon) && userOf(pid) === writer);
}

function isDaemon(identity: ProcessIdentity, files: RunFiles): boolean {
  return isAlive(identity) && runsProgram(identity.pid, files.daemon);
}

/**
 * Ends a process: SIGTERM, and SIGKILL when it does not obey in time.
 * @throws Error when this user may not signal it
 */
export async function endProcess(identity: ProcessIdentity, waitMs = STOP_WAIT_MS): Promise<StopOutcome> {
  if (!signal(identity, 'SIGTERM')) return 'not-running';
  if (await ended(identity, waitMs)) return 'stopped';
  signal(identity, 'SIGKILL');
  await ended(identity, waitMs);
  return 'killed';
}

/** Removes what a daemon that no longer lives has left in `var/run`. */
export function removeLeftovers(home: Home, daemon: DaemonName): void {
  const files = new RunFiles(home, daemon);
  if (liveProcess(files) !== undefined) return;
  const socket = home.socket(daemon);
  // Those of a daemon that ran as another user before could not be replaced by itself in a sticky directory.
  for (const path of [files.record(), files.heartbeat(), files.lock(), socket, `${socket}.lock`]) {
    removeTree(path);
  }
  // Nothing of the product: in the way of a daemon that is root but may not write to other users' directories.
  for (const claim of [`${files.lock()}.takeover`, `${socket}.lock.takeover`]) {
    if (lstatSync(claim, { throwIfNoEntry: false })?.isDirectory() === true) removeTree(claim);
  }
  for (const { path } of stalePidFiles(home, daemon)) removeTree(path);
}

/** Pid files of a daemon whose process is gone. */
export function stalePidFiles(home: Home, daemon: DaemonName): { readonly path: string; readonly pid: number }[] {
  const files = new RunFiles(home, daemon);
  const live = liveProcess(files);
  const stale: { path: string; pid: number }[] = [];
  for (const name of namesIn(files.directory)) {
    const match = /^(.+)-(\d+)\.pid$/.exec(name);
    if (match === null || match[1] !== daemon) continue;
    const pid = Number(match[2]);
    if (pid === live?.pid) continue;
    // A daemon may own processes beside its main one; only those that are gone, or all once it is gone itself.
    if (live !== undefined && identityOf(pid) !== undefined) continue;
    stale.push({ path: home.path('var', 'run', name), pid });
  }
  return stale;
}

/**
 * Asks a daemon to re-read its configuration and waits for the outcome.
 * @throws Error when it does not answer in time or may not be signalled
 */
export async function reloadDaemon(home: Home, daemon: DaemonName): Promise<ReloadOutcome> {
  const files = new RunFiles(home, daemon);
  const before = readRunRecord(files.record(), belief(files.record(), files));
  if (before === undefined || !isDaemon(before, files)) return { kind: 'not-running' };
  const count = before.reload?.count ?? 0;
  if (!signal(before, 'SIGHUP')) return { kind: 'not-running' };
  const look = (): ReloadOutcome | undefined => {
    const now = readRunRecord(files.record());
    if (now?.reload !== undefined && now.pid === before.pid && now.reload.count > count) {
      return now.reload.error === undefined
        ? { kind: 'reloaded', restartNeeded: now.reload.restartNeeded }
        : { kind: 'refused', reason: now.reload.error };
    }
    return isAlive(before) ? undefined : { kind: 'refused', reason: 'it ended' };
  };
  const outcome = await waitUntil(look, { everyMs: POLL_MS, mostMs: RELOAD_WAIT_MS });
  if (outcome === undefined) throw new Error(`no answer within ${RELOAD_WAIT_MS / 1000} s`);
  return outcome;
}

/** Resident memory of a process in bytes; undefined when it cannot be read. */
export function residentBytes(pid: number): number | undefined {
  try {
    const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    return match === null ? undefined : Number(match[1]) * 1024;
  } catch {
    return undefined;
  }
}

function signal(identity: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw new Error(`process ${identity.pid} may not be signalled by this user`, { cause: error });
  }
}

async function ended(identity: ProcessIdentity, waitMs: number): Promise<boolean> {
  return (await waitUntil(() => !isAlive(identity), { everyMs: POLL_MS, mostMs: waitMs })) === true;
}

/** None where the directory is gone: a home that somebody removed is no reason to leave its daemons running. */
function namesIn(directory: string): string[] {
  return ifPresentSync(() => readdirSync(directory)) ?? [];
}
