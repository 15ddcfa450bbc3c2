/** A line is written at once, then at most once in this time with the number of those left out: stops log floods. */
const QUIET_MS = 60_000;

/** Keeps one kind of message from flooding the log while its count is not lost. */
export class LogLimiter {
  #lastAt = -Infinity;
  #held = 0;

  /** @param write gets the message, with the number of repeats that were held back since the last one */
  constructor(
    private readonly write: (message: string) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  log(message: string): void {
    const at = this.now();
    if (at - this.#lastAt < QUIET_MS) {
      this.#held += 1;
      return;
    }
    this.#lastAt = at;
    this.write(this.#held === 0 ? message : `${message} (${this.#held} more since the last line)`);
    this.#held = 0;
  }
}
