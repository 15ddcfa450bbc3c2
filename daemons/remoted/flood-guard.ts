import type { Logger } from '../../lib/log/logger.js';
import { LOG_BURST_LINES, LOG_LINES_PER_SECOND } from './remoted-limits.js';
import { RepeatedLines } from './repeated-lines.js';

/**
 * Logs what peers do, so many lines a second at most, and the same line less and less often: nobody fills the disk by
 * sending garbage, or by never giving up.
 */
export class FloodGuard {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #repeated = new RepeatedLines();
  #credit = LOG_BURST_LINES;
  #at: number;
  #held = 0;

  /** @param now milliseconds of a clock that is not set */
  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
    this.#at = now();
  }

  log(level: 'warning' | 'error', text: string): void {
    const now = this.#now();
    this.#credit = Math.min(LOG_BURST_LINES, this.#credit + ((now - this.#at) / 1000) * LOG_LINES_PER_SECOND);
    this.#at = now;
    // Looked at first: a line that a flood of others has kept out was not written, and must not wait for its next time.
    if (this.#credit < 1) {
      this.#held += 1;
      return;
    }
    const before = this.#repeated.admit(text, now);
    if (before === undefined) return;
    this.#credit -= 1;
    if (this.#held > 0) {
      this.#logger.warn(`${String(this.#held)} messages about connections were left out of this log.`);
      this.#held = 0;
    }
    const line = before === 0 ? text : `${text} (${String(before)} more since the last line)`;
    if (level === 'error') this.#logger.error(line);
    else this.#logger.warn(line);
  }
}
