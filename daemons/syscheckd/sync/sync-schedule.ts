/** Times of `<synchronization>`, seconds. */
export type SyncTimes = {
  readonly interval: number;
  /** Raised to `interval` when it is smaller. */
  readonly maxInterval: number;
  readonly responseTimeout: number;
};

/**
 * When rounds of synchronisation begin (integrity-and-inventory.md 5.1, last paragraph): at first at once, then each
 * interval, unless the last round is still being worked off; then the interval doubles. A clock that only goes
 * forward is passed in.
 */
export class SyncSchedule {
  readonly #times: SyncTimes;
  #interval: number;
  #next: number | undefined;
  #lastTraffic = -Infinity;
  #answered = false;

  /** @param first when the first round begins, seconds; undefined: at once */
  constructor(times: SyncTimes, first?: number) {
    this.#times = times;
    this.#interval = times.interval;
    this.#next = first;
  }

  /** Seconds from one look to the next. */
  get interval(): number {
    return this.#interval;
  }

  /** An answer came or a state was sent. @param now seconds */
  traffic(now: number, kind: 'answer' | 'state'): void {
    this.#lastTraffic = now;
    if (kind === 'answer') this.#answered = true;
  }

  /** When `due` is to be asked next; undefined: at once. */
  get next(): number | undefined {
    return this.#next;
  }

  /** Whether a round begins now. @param now seconds */
  due(now: number): boolean {
    if (this.#next === undefined) {
      this.#next = now + this.#interval;
      return true;
    }
    if (now < this.#next) return false;
    const quiet = now - this.#lastTraffic > this.#times.responseTimeout;
    if (quiet) {
      if (!this.#answered) this.#interval = this.#times.interval;
      this.#answered = false;
    } else {
      this.#interval = Math.min(this.#interval * 2, Math.max(this.#times.maxInterval, this.#times.interval));
    }
    this.#next = now + this.#interval;
    return quiet;
  }
}
