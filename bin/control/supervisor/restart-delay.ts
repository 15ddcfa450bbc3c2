/** First delay: long enough that a crashed daemon is seen as stopped, short enough to hurt nobody. */
const FIRST_DELAY_MS = 1000;

/** A daemon that cannot start is not tried more often than this in the long run. */
const MAX_DELAY_MS = 60_000;

/** A daemon that ran this long was healthy: the next crash counts as a first one. */
const HEALTHY_AFTER_MS = 60_000;

/** Back-off of restarts: 1 s, doubled with each crash in a row, at most 60 s. */
export class RestartDelay {
  #crashes = 0;

  /**
   * Delay before the next start.
   * @param ranMs how long the daemon was ready before it ended; 0 when it never was
   * @returns milliseconds
   */
  next(ranMs: number): number {
    if (ranMs >= HEALTHY_AFTER_MS) this.#crashes = 0;
    const delay = Math.min(FIRST_DELAY_MS * 2 ** Math.min(this.#crashes, 16), MAX_DELAY_MS);
    this.#crashes += 1;
    return delay;
  }

  reset(): void {
    this.#crashes = 0;
  }
}
