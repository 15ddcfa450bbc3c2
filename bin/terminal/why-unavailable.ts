import { accessSync, constants, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { readRunRecord } from '../../lib/daemon/run-record.js';
import { readRunFile } from '../../lib/files/read-run-file.js';
import type { Home } from '../../lib/home/home.js';
import { readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { isAlive } from '../../lib/process/process-identity.js';
import { ProcessLock } from '../../lib/process/process-lock.js';
import { AGENT_DAEMON, type DaemonName, MANAGER_DAEMONS } from '../../lib/product/daemon-names.js';
import { productRoot } from '../../lib/product/product-root.js';

const ALL_DAEMONS: readonly DaemonName[] = [...MANAGER_DAEMONS, AGENT_DAEMON];

/**
 * What a person is told whose program found nobody at a daemon's socket: that the whole home does not run, or which daemon
 * does not while others do, and the command that changes it. One wording for all programs.
 * @param reason what was seen at the socket; told when the daemon lives, or this user may not see whether it does
 */
export function whyUnavailable(home: Home, daemon: DaemonName, reason: string): string {
  if (existsSync(home.path('var', 'run')) && !maySee(home.path('var', 'run'))) return reason;
  const files = new RunFiles(home, daemon);
  if (isReady(files)) return `${daemon} runs and does not answer: ${reason}`;
  if (ProcessLock.holder(files.lock(), () => true) !== undefined || existsSync(files.startMarker())) {
    return `${daemon} is starting: try again in a moment`;
  }
  if (!homeRuns(home)) return `The ${roleOf(home)} does not run; start it with: ${control(home)}`;
  const failure = firstLine(files.failedMarker());
  return failure === undefined
    ? `${daemon} does not run, while others do; start it with: ${control(home, daemon)}`
    : `${daemon} did not start: ${failure} (mend this, then: ${control(home, daemon)})`;
}

/** Whether any daemon of a home lives, be it ready or not. */
export function homeRuns(home: Home): boolean {
  return ALL_DAEMONS.some((name) => {
    const files = new RunFiles(home, name);
    return isReady(files) || ProcessLock.holder(files.lock(), () => true) !== undefined;
  });
}

function isReady(files: RunFiles): boolean {
  const record = readRunRecord(files.record());
  return record !== undefined && isAlive(record);
}

function roleOf(home: Home): 'manager' | 'agent' {
  try {
    return readHomeRecord(home).role === 'agent' ? 'agent' : 'manager';
  } catch {
    return 'manager';
  }
}

/** The command as it can be typed from anywhere. */
function control(home: Home, ...daemons: DaemonName[]): string {
  const installed = home.path('bin', 'svc-control');
  const program = existsSync(installed) ? installed : fileURLToPath(new URL('bin/svc-control', productRoot()));
  const option = existsSync(installed) || resolveHome(undefined).root === home.root ? [] : ['--home', home.root];
  return [program, 'start', ...daemons, ...option].join(' ');
}

function maySee(directory: string): boolean {
  try {
    accessSync(directory, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function firstLine(path: string): string | undefined {
  try {
    return readRunFile(path).text.split('\n', 1)[0] || undefined;
  } catch {
    return undefined;
  }
}
