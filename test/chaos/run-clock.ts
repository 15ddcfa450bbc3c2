import { writeFileSync } from 'node:fs';
import { clockEnvironment } from '../support/monitord/clock-of-daemon.js';

/** The clock of a run and of the product that it runs: that of the host, or one that is ahead of it by a constant time. */
export class RunClock {
  readonly #aheadMs: number;
  readonly #file: string;

  /** @param file that tells the product's processes how far it is ahead */
  constructor(file: string, aheadMs = 0) {
    this.#aheadMs = aheadMs;
    this.#file = file;
    if (aheadMs !== 0) writeFileSync(file, String(aheadMs));
  }

  /** By how many milliseconds a clock is ahead that comes to midnight, as this host has it, in so many seconds. */
  static aheadForMidnight(seconds: number, now = new Date()): number {
    const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
    return midnight.getTime() - seconds * 1000 - now.getTime();
  }

  /** Epoch milliseconds. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** The environment of processes whose clock it is, too. */
  environment(): NodeJS.ProcessEnv {
    return this.#aheadMs === 0 ? process.env : { ...process.env, ...clockEnvironment(this.#file) };
  }
}
