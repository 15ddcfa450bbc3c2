/** `<limits><eps>`: at most `maximum` events a second, averaged over `timeframe` seconds (rules-and-alerts.md 11.6). */
export class EpsLimiter {
  readonly #credits: number;
  readonly #timeframe: number;
  /** Events of each second of the window, by second modulo its length. */
  readonly #counts: number[];
  #second: number;
  #used = 0;
  /** Seconds in which the credits ran out. */
  secondsOverLimit = 0;

  /**
   * @param maximum events a second, above 0
   * @param timeframe seconds
   * @param now epoch seconds
   */
  constructor(maximum: number, timeframe: number, now: number) {
    this.#credits = maximum * timeframe;
    this.#timeframe = timeframe;
    this.#counts = Array.from({ length: timeframe }, () => 0);
    this.#second = now;
  }

  /** Events that may still be analysed in the window that ends now. */
  available(now: number): number {
    this.#move(now);
    return Math.max(0, this.#credits - this.#used);
  }

  /** Takes one credit; false when none is left. */
  take(now: number): boolean {
    this.#move(now);
    if (this.#used >= this.#credits) return false;
    this.#used += 1;
    const slot = now % this.#timeframe;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
    return true;
  }

  #move(now: number): void {
    if (now === this.#second) return;
    if (now < this.#second) {
      // The clock was set back: waiting until it is there again would hold all events up for as long.
      this.#counts.fill(0);
      this.#used = 0;
      this.#second = now;
      return;
    }
    if (this.#used >= this.#credits) this.secondsOverLimit += 1;
    const steps = Math.min(now - this.#second, this.#timeframe);
    for (let step = 1; step <= steps; step += 1) {
      const slot = (this.#second + step) % this.#timeframe;
      this.#used -= this.#counts[slot] ?? 0;
      this.#counts[slot] = 0;
    }
    this.#second = now;
  }
}
