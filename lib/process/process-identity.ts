import { existsSync, readFileSync } from 'node:fs';
import { isErrno } from '../files/is-errno.js';

/** A process that cannot be confused with a later one of the same number: pid plus start time. */
export type ProcessIdentity = {
  readonly pid: number;
  /** `<boot id>:<clock ticks since boot>`; `unknown` where /proc hides other users' processes. */
  readonly startTime: string;
};

const UNKNOWN = 'unknown';
/** `USER_HZ` is 100 wherever Node runs on Linux. */
const MS_PER_TICK = 10;
let cachedBootId: string | undefined;

/** Differs after every start of the host; `unknown` where /proc does not tell. */
export function bootId(): string {
  try {
    cachedBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'ascii').trim();
  } catch {
    cachedBootId = UNKNOWN;
  }
  return cachedBootId;
}

/**
 * State letter and start time of `/proc/<pid>/stat`; undefined when there is no such file. The command name is in
 * parentheses and may hold blanks and parentheses itself, so fields count from the last `)`.
 */
function readStat(pid: number): { state: string; startTicks: string; cpuTicks: number } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startTicks: fields[19] ?? '', cpuTicks: Number(fields[11]) + Number(fields[12]) };
}

/** Processor time that a process has used, milliseconds; undefined where the system does not tell. */
export function cpuTimeOf(pid: number): number | undefined {
  const ticks = readStat(pid)?.cpuTicks;
  return ticks === undefined || Number.isNaN(ticks) ? undefined : ticks * MS_PER_TICK;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
}

/** Identity of a running process; undefined when it does not run (a zombie does not). */
export function identityOf(pid: number): ProcessIdentity | undefined {
  if (!Number.isSafeInteger(pid) || pid < 1 || !exists(pid)) return undefined;
  const stat = readStat(pid);
  if (stat === undefined) return { pid, startTime: UNKNOWN };
  if (stat.state === 'Z' || stat.state === 'X') return undefined;
  return { pid, startTime: `${bootId()}:${stat.startTicks}` };
}

/** The user a process runs as in every respect; undefined when it is gone, has several, or the system does not tell. */
export function userOf(pid: number): number | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return undefined;
  }
  const uids = new Set(/^Uid:((?:\s+\d+){4})$/m.exec(text)?.[1]?.trim().split(/\s+/));
  const [uid] = uids;
  return uids.size === 1 ? Number(uid) : undefined;
}

/** Identity of this process. */
export function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid) ?? { pid: process.pid, startTime: UNKNOWN };
}

/** Whether this very process still runs. A start time that cannot be read on either side is not held against it. */
export function isAlive(identity: ProcessIdentity): boolean {
  const now = identityOf(identity.pid);
  if (now === undefined) return false;
  return now.startTime === identity.startTime || now.startTime === UNKNOWN || identity.startTime === UNKNOWN;
}

/** Reads an identity out of parsed JSON; undefined when it is none. */
export function parseIdentity(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('startTime' in value)) return undefined;
  const { pid, startTime } = value;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1 || typeof startTime !== 'string') {
    return undefined;
  }
  return { pid, startTime };
}

/**
 * Whether a process was started as a program of this name: one of its arguments is the name or a path that ends in it.
 * True where the system does not tell (no /proc).
 */
export function runsProgram(pid: number, name: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
    return words.some((word) => word === name || word.endsWith(`/${name}`));
  } catch {
    return !existsSync('/proc/self/cmdline');
  }
}
