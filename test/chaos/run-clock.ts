/** Milliseconds by which `clock-ahead.ts` has the clock of a process go ahead of that of the host. */
export const CLOCK_AHEAD = 'SVC_TEST_CLOCK_AHEAD_MS';

const DAY_MS = 86_400_000;

/** The clock of a run and of the product that it runs: that of the host, or one that goes ahead of it by a constant time. */
export class RunClock {
  readonly aheadMs: number;

  constructor(aheadMs = 0) {
    this.aheadMs = aheadMs;
  }

  /** One by which it is midnight on this host in so many seconds. */
  static beforeMidnight(seconds: number, now = new Date()): RunClock {
    const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
    return new RunClock((midnight.getTime() - seconds * 1000 - now.getTime()) % DAY_MS);
  }

  /** Epoch milliseconds. */
  now(): number {
    return Date.now() + this.aheadMs;
  }

  /** The environment of processes whose clock it is, too. */
  environment(): NodeJS.ProcessEnv {
    if (this.aheadMs === 0) return process.env;
    const preload = `--import ${new URL('clock-ahead.js', import.meta.url).href}`;
    return {
      ...process.env,
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${preload}`.trim(),
      [CLOCK_AHEAD]: String(this.aheadMs),
    };
  }
}
