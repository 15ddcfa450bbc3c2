/** Length of a window in milliseconds (rest-api.md 1.6). */
const WINDOW_MS = 60_000;

/**
 * Counts requests in fixed windows (rest-api.md 1.6). The request that opens a later window is not
 * counted, so the first window admits `limit` requests and later ones one more: clients know it so.
 */
export class RateLimit {
  readonly #limit: number;
  readonly #now: () => number;
  #windowStart: number | undefined;
  #count = 0;

  /**
   * @param limit requests a window; 0 admits everything
   * @param now milliseconds of a clock that never goes back
   */
  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Counts one request; refused ones count too. */
  admit(): boolean {
    if (this.#limit <= 0) return true;
    const now = this.#now();
    this.#windowStart ??= now;
    if (now - this.#windowStart <= WINDOW_MS) {
      this.#count += 1;
    } else {
      this.#count = 0;
      this.#windowStart = now;
    }
    return this.#count <= this.#limit;
  }

  /** Whether the next request would be refused. */
  get full(): boolean {
    if (this.#limit <= 0 || this.#windowStart === undefined) return false;
    return this.#now() - this.#windowStart <= WINDOW_MS && this.#count >= this.#limit;
  }

  /** Whole seconds until a request may pass again, at least 1: the value of `Retry-After`. */
  retryAfter(): number {
    if (this.#windowStart === undefined) return 1;
    return Math.max(1, Math.ceil((this.#windowStart + WINDOW_MS - this.#now()) / 1000));
  }
}
