/** A clock that goes on by sleeping: what sleeps wakes at once, and time has passed. */
export class ManualClock {
  #now: number;

  /** @param start local time, `2026-11-20T23:59:58` */
  constructor(start: string) {
    this.#now = new Date(start).getTime();
  }

  now(): Date {
    return new Date(this.#now);
  }

  set(time: string): void {
    this.#now = new Date(time).getTime();
  }

  sleep(milliseconds: number): Promise<void> {
    this.#now += milliseconds;
    // Through the event loop, so that a loop of nothing but sleeps lets others work.
    return new Promise((resolve) => setImmediate(resolve));
  }
}
