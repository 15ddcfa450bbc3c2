import type { Logger } from '../../lib/daemon/logger.js';
import { LOG_BURST_LINES, LOG_LINES_PER_SECOND } from './remoted-limits.js';

/** Logs what peers do, so many lines a second at most: nobody fills the disk by sending garbage. */
export class FloodGuard {
  readonly #logger: Logger;
  readonly #now: () => number;
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
    if (this.#credit < 1) {
      this.#held += 1;
      return;
    }
    this.#credit -= 1;
    if (this.#held > 0) {
      this.#logger.warn(`${String(this.#held)} messages about agents' connections were left out of this log.`);
      this.#held = 0;
    }
    if (level === 'error') this.#logger.error(text);
    else this.#logger.warn(text);
  }
}
