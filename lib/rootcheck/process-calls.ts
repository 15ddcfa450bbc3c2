import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import { isErrno } from '../files/is-errno.js';

/** What the system says of processes by their numbers, so that tests can let a rootkit change it. */
export interface ProcessCalls {
  /** Why the answers would mean nothing; undefined when they can be compared. */
  obstacle(): string | undefined;
  /** Largest number a process can have. */
  maximum(): number;
  /** Whether a signal could be sent: a thread counts as well. */
  kill(pid: number): boolean;
  /** Whether the scheduler knows it: a thread counts as well. */
  session(pid: number): boolean;
  /** The process that the number, maybe that of a thread, belongs to by /proc; 0 where that does not say; undefined for none. */
  leader(pid: number): number | undefined;
  /** Processes that /proc lists. */
  listed(): ReadonlySet<number>;
  /** Processes that ps(1) shows, of all or of one; undefined where it cannot be asked. */
  ps(pid?: number): ReadonlySet<number> | undefined;
}

/** Largest number of any Linux (PID_MAX_LIMIT). */
const PID_MAX_LIMIT = 4_194_304;
const CAP_SYS_PTRACE = 1n << 19n;
const ESRCH = -3;
const PS_PROGRAMS = ['/bin/ps', '/usr/bin/ps'];
const PS_LIMITS = { timeout: 30_000, maxBuffer: 64 * 1024 * 1024 };

/** Those of the system. */
export class SystemProcesses implements ProcessCalls {
  #hasPriorities = true;

  obstacle(): string | undefined {
    try {
      if (readlinkSync('/proc/self') !== String(process.pid)) return '/proc is of other processes than this one';
      this.#hasPriorities = this.#isScheduled(process.pid);
      const hidden = hidesProcesses(readFileSync('/proc/self/mountinfo', 'latin1'));
      const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0';
      if (hidden && (BigInt(`0x${capabilities}`) & CAP_SYS_PTRACE) === 0n) return '/proc hides processes of others';
      return undefined;
    } catch (error) {
      return `/proc cannot be read: ${(error as Error).message}`;
    }
  }

  maximum(): number {
    const maximum = Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'));
    return Number.isInteger(maximum) && maximum > 0 ? Math.min(maximum, PID_MAX_LIMIT) : PID_MAX_LIMIT;
  }

  kill(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      return !isErrno(error, 'ESRCH');
    }
  }

  /** Node has no getsid(2). What asks the kernel for a task by its number on a way of its own is getpriority(2). */
  session(pid: number): boolean {
    return this.#hasPriorities ? this.#isScheduled(pid) : this.kill(pid);
  }

  leader(pid: number): number | undefined {
    try {
      return Number(/^Tgid:\s*(\d+)$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'latin1'))?.[1] ?? 0);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' || code === 'ESRCH' ? undefined : 0;
    }
  }

  listed(): ReadonlySet<number> {
    return new Set(readdirSync('/proc').map(Number).filter(Number.isInteger));
  }

  ps(pid?: number): ReadonlySet<number> | undefined {
    const which = pid === undefined ? ['-e'] : ['-p', `${String(pid)},${String(process.pid)}`];
    for (const program of PS_PROGRAMS) {
      const { status, stdout } = spawnSync(program, [...which, '-o', 'pid='], {
        ...PS_LIMITS,
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { LC_ALL: 'C' },
        encoding: 'latin1',
      });
      const shown = new Set((stdout || '').split('\n').map((line) => Number(line.trim())));
      // One that does not show the process that asks is none of these programs, or knows not these options.
      if (status === 0 && shown.has(process.pid)) return shown;
    }
    return undefined;
  }

  #isScheduled(pid: number): boolean {
    try {
      getPriority(pid);
      return true;
    } catch (error) {
      return (error as { readonly info?: { readonly errno?: number } }).info?.errno !== ESRCH;
    }
  }
}

/** Whether /proc is mounted so that a user does not see the processes of others. @param mountinfo as of proc(5) */
export function hidesProcesses(mountinfo: string): boolean {
  const line = mountinfo.split('\n').findLast((each) => each.split(' ')[4] === '/proc');
  const options = line?.slice(line.indexOf(' - ')).split(' ').at(-1)?.split(',') ?? [];
  return options.some((option) => option.startsWith('hidepid=') && !['hidepid=0', 'hidepid=off'].includes(option));
}
