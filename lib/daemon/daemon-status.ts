import { access } from 'node:fs/promises';
import type { Home } from '../home/home.js';
import { isAlive } from '../process/process-identity.js';
import { ProcessLock } from '../process/process-lock.js';
import { type DaemonName, MANAGER_DAEMONS } from '../product/daemon-names.js';
import { HEARTBEAT_MAX_AGE_MS, heartbeatAge } from './heartbeat.js';
import { restartMarker, RunFiles } from './run-files.js';
import { readRunRecord, type RunRecord } from './run-record.js';

/**
 * `running`: its process lives and has beaten within 5 s. `unresponsive`: it lives and has not. `starting`: it lives
 * and is not ready yet, or a start of it is going on. `restarting`, `failed`: markers of daemons-and-config.md 3.3 on
 * a daemon that does not run.
 */
export type DaemonState = 'running' | 'unresponsive' | 'starting' | 'restarting' | 'failed' | 'stopped';

/** State of one daemon; members other than `state` are there while its process lives. */
export type DaemonStatus = {
  readonly state: DaemonState;
  readonly pid?: number;
  /** Start of the process, see ProcessIdentity. */
  readonly startTime?: string;
  /** When it became ready, epoch milliseconds. */
  readonly startedAt?: number;
  readonly version?: string;
  readonly addresses?: RunRecord['addresses'];
  /** What the operator must mend. */
  readonly problem?: string;
  readonly heartbeatAgeMs?: number;
};

/**
 * State of daemons as `var/run` tells it (architecture.md 4 "Status"). Never throws: what cannot be read does not run.
 * @param names of the daemons asked for
 */
export async function readDaemonStatus(
  home: Home,
  names: readonly DaemonName[] = MANAGER_DAEMONS,
): Promise<Map<DaemonName, DaemonStatus>> {
  const restarting = await exists(restartMarker(home));
  const entries = await Promise.all(
    names.map(async (name) => [name, await readOne(new RunFiles(home, name), restarting)] as const),
  );
  return new Map(entries);
}

/** What `GET /manager/status` shows: product.md 2.5 knows two words. */
export function shownState(status: DaemonStatus | undefined): 'running' | 'stopped' {
  return status?.state === 'running' ? 'running' : 'stopped';
}

async function readOne(files: RunFiles, restarting: boolean): Promise<DaemonStatus> {
  const record = readRunRecord(files.record());
  if (record !== undefined && isAlive(record)) {
    const age = heartbeatAge(files.heartbeat(), record.pid);
    return {
      state: age !== undefined && age <= HEARTBEAT_MAX_AGE_MS ? 'running' : 'unresponsive',
      pid: record.pid,
      startTime: record.startTime,
      startedAt: record.startedAt,
      version: record.version,
      addresses: record.addresses,
      ...(record.problem === undefined ? {} : { problem: record.problem }),
      ...(age === undefined ? {} : { heartbeatAgeMs: age }),
    };
  }
  const starting = ProcessLock.holder(files.lock(), () => true);
  if (starting !== undefined) return { state: 'starting', ...starting };
  if (await exists(files.failedMarker())) return { state: 'failed' };
  if (restarting) return { state: 'restarting' };
  if (await exists(files.startMarker())) return { state: 'starting' };
  return { state: 'stopped' };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
