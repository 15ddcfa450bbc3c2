import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identityOf, isAlive, type ProcessIdentity } from '../../lib/process/process-identity.js';

/** Looks without a process of the home after which there is none: a supervisor may have been about to start one. */
const QUIET_LOOKS = 3;
const LOOK_MS = 100;
const MAX_LOOKS = 100;

/** Processes that were started for a home: one of their arguments is its path. Without this one. */
export function processesOfHome(root: string): ProcessIdentity[] {
  const found: ProcessIdentity[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const identity = identityOf(pid);
    if (identity !== undefined && argumentsOf(pid).includes(root)) found.push(identity);
  }
  return found;
}

function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Gives a signal to this very process; false when it is gone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false;
  }
}

/** Kills all processes of a home, also those that are started meanwhile. Bounded to some 10 s. */
export async function endProcessesOfHome(root: string): Promise<void> {
  let quiet = 0;
  for (let look = 0; look < MAX_LOOKS && quiet < QUIET_LOOKS; look += 1) {
    const found = processesOfHome(root);
    quiet = found.length === 0 ? quiet + 1 : 0;
    for (const identity of found) signalProcess(identity, 'SIGKILL');
    await delay(LOOK_MS);
  }
}
