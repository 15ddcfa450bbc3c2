import { pause } from '../../../lib/async/pause.js';
import type { Schedule } from '../../../lib/config/schedule.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { nextRun } from './next-run.js';
import type { RunTimes } from './run-times.js';

export type ModuleLoopParts = {
  /** Under which its last run is kept. */
  readonly name: string;
  readonly schedule: Schedule;
  /** Whether it runs at the start, whenever it ran before. */
  readonly runOnStart: boolean;
  /** One run. @returns false: it is not to run again */
  readonly run: (signal: AbortSignal) => Promise<boolean>;
  readonly times: Pick<RunTimes, 'last' | 'keep'>;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Longest wait at a time, milliseconds: the clock may be put, and a suspended host wakes up. */
const MOST_WAIT_MS = 60_000;

/** Runs a module by its schedule until it is stopped (daemons-and-config.md 7.3). */
export class ModuleLoop {
  readonly #parts: ModuleLoopParts;
  readonly #stopped = new AbortController();
  #working: Promise<void> = Promise.resolve();

  constructor(parts: ModuleLoopParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#working = this.#loop();
  }

  /** Ends a run that is under way. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#working;
  }

  async #loop(): Promise<void> {
    const { name, schedule, runOnStart, run, times, logger, now } = this.#parts;
    const { signal } = this.#stopped;
    let last = times.last(name);
    let isFirst = runOnStart;
    // Without a run at the start the first one comes when the schedule says so, counted from now.
    if (!runOnStart) last ??= now();
    while (!signal.aborted) {
      const due = isFirst ? now() : nextRun(schedule, last, now());
      isFirst = false;
      await this.#wait(due);
      if (signal.aborted) return;
      last = now();
      times.keep(name, last);
      try {
        if (!(await run(signal))) return;
      } catch (error) {
        if (signal.aborted) return;
        logger.error(describeError(error));
      }
      const isPlain = schedule.day === undefined && schedule.wday === undefined && schedule.time === undefined;
      if (isPlain && schedule.interval.unit === 'second' && now() - last > schedule.interval.count * 1000) {
        logger.warn('Interval overtaken.');
      }
    }
  }

  async #wait(due: number): Promise<void> {
    const { signal } = this.#stopped;
    for (let left = due - this.#parts.now(); left > 0 && !signal.aborted; left = due - this.#parts.now()) {
      await pause(Math.min(left, MOST_WAIT_MS), signal);
    }
  }
}
