import { pause } from '../../../lib/async/pause.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { ScanSchedule, type ScanTimes } from './scan-schedule.js';

const SECOND_MS = 1000;
/** A scan that failed is tried again after this time, seconds. */
export const RETRY_SECONDS = 60;

/** The host's clocks; tests bring their own. */
export interface ScanClock {
  now(): Date;
  /** Seconds; only goes forward. */
  seconds(): number;
  /** Resolves after the time, or at once when the signal aborts. Never rejects. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The clocks of this host. */
export const HOST_CLOCK: ScanClock = {
  now: () => new Date(),
  seconds: () => performance.now() / SECOND_MS,
  sleep: pause,
};

/** What a loop works with. */
export type ScanLoopParts = {
  /** As the log has it: `File integrity monitoring`. */
  readonly what: string;
  /** While it says no, no scan begins; what was asked for is made up for. */
  readonly enabled: () => boolean;
  /**
   * One scan. False: it was given up for another that is to begin at once.
   * @throws the reason of `signal`; Error when it failed
   */
  readonly scan: (signal: AbortSignal) => Promise<boolean>;
  readonly times: ScanTimes;
  readonly clock: ScanClock;
  readonly logger: Logger;
  /** What the operator must mend; undefined when a scan went well. */
  readonly setProblem: (problem: string | undefined) => void;
};

/** Scans of one kind as `scan.status` tells of them: epoch seconds, null before the first. */
export type LoopStatus = {
  readonly running: boolean;
  readonly started: number | null;
  readonly ended: number | null;
  readonly count: number;
};

/** Scans of one kind, one after the other: at the start, by their schedule, and when somebody asks. */
export class ScanLoop {
  readonly #parts: ScanLoopParts;
  readonly #stop = new AbortController();
  #schedule: ScanSchedule;
  #wake = new AbortController();
  #wanted = true;
  #retryAt = Infinity;
  #running = false;
  #started: number | null = null;
  #ended: number | null = null;
  #count = 0;
  #loop: Promise<void> | undefined;

  constructor(parts: ScanLoopParts) {
    this.#parts = parts;
    this.#schedule = this.#newSchedule(parts.times);
  }

  get status(): LoopStatus {
    return { running: this.#running, started: this.#started, ended: this.#ended, count: this.#count };
  }

  /** Begins with a scan. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** A scan now, or right after the one that is running. */
  request(): void {
    this.#wanted = true;
    this.#wake.abort();
  }

  /** From now on by these times. */
  reschedule(times: ScanTimes): void {
    this.#schedule = this.#newSchedule(times);
  }

  /** Calls off what is running. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const seconds = clock.seconds();
      if (this.#parts.enabled() && this.#isDue(seconds)) {
        await this.#scan(signal);
      } else {
        this.#wake = new AbortController();
        await clock.sleep(SECOND_MS, AbortSignal.any([signal, this.#wake.signal]));
      }
    }
  }

  #isDue(seconds: number): boolean {
    // Asked in any case: a day whose time has come is done then.
    const due = this.#schedule.due(this.#parts.clock.now(), seconds);
    return due || this.#wanted || seconds >= this.#retryAt;
  }

  async #scan(signal: AbortSignal): Promise<void> {
    const { scan, clock, what, logger, setProblem } = this.#parts;
    this.#wanted = false;
    this.#retryAt = Infinity;
    this.#running = true;
    this.#started = epochSeconds(clock);
    try {
      if (await scan(signal)) {
        this.#count += 1;
        this.#ended = epochSeconds(clock);
      } else {
        this.#wanted = true;
      }
      setProblem(undefined);
    } catch (error) {
      if (signal.aborted) return;
      const problem = `${what} scan failed, it begins anew in ${RETRY_SECONDS} s: ${describeError(error)}`;
      setProblem(problem);
      logger.debug(error instanceof Error ? (error.stack ?? '') : '');
      this.#retryAt = clock.seconds() + RETRY_SECONDS;
    } finally {
      this.#running = false;
      this.#schedule.ended(clock.seconds());
    }
  }

  #newSchedule(times: ScanTimes): ScanSchedule {
    const { clock } = this.#parts;
    return new ScanSchedule(times, clock.now(), clock.seconds());
  }
}

function epochSeconds(clock: ScanClock): number {
  return Math.floor(clock.now().getTime() / SECOND_MS);
}
