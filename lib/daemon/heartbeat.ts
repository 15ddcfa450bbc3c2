import { closeSync, writeSync } from 'node:fs';
import { makeOwnFile } from '../files/open-own-file.js';
import { readRunFile } from '../files/read-run-file.js';

/** A daemon beats this often. */
export const HEARTBEAT_INTERVAL_MS = 1000;

/** A daemon that has not beaten for longer does not count as running (architecture.md 4 "Status"). */
export const HEARTBEAT_MAX_AGE_MS = 5000;

/** Milliseconds since boot: one clock for all processes, which setting the time of day does not move. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/**
 * Writes heartbeats over each other in one file of fixed length, with one `write` at offset 0: it needs no disk space
 * after the first, so a full disk does not make daemons look dead, and a reader never sees a part of it.
 */
export class HeartbeatWriter {
  readonly #fd: number;

  /** @throws the file system's error when the file cannot be made */
  constructor(path: string) {
    this.#fd = makeOwnFile(path);
  }

  /** Never throws: a beat that cannot be written is missing, and that is what a reader then sees. */
  beat(): void {
    const pid = String(process.pid).padStart(10);
    const time = String(monotonicMs()).padStart(20);
    try {
      writeSync(this.#fd, `${pid} ${time}\n`, 0);
    } catch {
      // A failing disk; the next beat tries again.
    }
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Age in milliseconds of the last heartbeat that process `pid` wrote; undefined when there is none. */
export function heartbeatAge(path: string, pid: number): number | undefined {
  let text: string;
  try {
    // The service user may put a pipe or a link in its place: neither may hold the supervisor up.
    text = readRunFile(path).text;
  } catch {
    return undefined;
  }
  const match = /^ *(\d+) +(\d+)\n$/.exec(text);
  if (match === null || Number(match[1]) !== pid) return undefined;
  // A time from before the last boot lies ahead of the clock: no heartbeat of this process.
  const age = monotonicMs() - Number(match[2]);
  return age < 0 ? undefined : age;
}
