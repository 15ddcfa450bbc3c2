import type { LimitedLogger } from './logger.js';

/** A line is written at once, then at most once in this time with the number of those left out: stops log floods. */
const QUIET_MS = 60_000;

/** What `Logger.limited` gives: keeps one kind of message from flooding the log while its count is not lost. */
export class LimitedLog implements LimitedLogger {
  readonly #write: (level: keyof LimitedLogger, message: string) => void;
  readonly #now: () => number;
  #lastAt = -Infinity;
  #held = 0;

  /**
   * @param write gets the message, with the number of repeats that were held back since the last one
   * @param now milliseconds of a clock that is not set
   */
  constructor(
    write: (level: keyof LimitedLogger, message: string) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#write = write;
    this.#now = now;
  }

  debug(message: string): void {
    this.#log('debug', message);
  }

  warn(message: string): void {
    this.#log('warn', message);
  }

  error(message: string): void {
    this.#log('error', message);
  }

  #log(level: keyof LimitedLogger, message: string): void {
    const at = this.#now();
    if (at - this.#lastAt < QUIET_MS) {
      this.#held += 1;
      return;
    }
    this.#lastAt = at;
    this.#write(level, this.#held === 0 ? message : `${message} (${this.#held} more since the last line)`);
    this.#held = 0;
  }
}
