/** When scans of one kind begin. */
export type ScanTimes = {
  /** Seconds from the end of one to the next. */
  readonly frequency: number;
  /** Minutes after midnight, local time: once a day when it has come. */
  readonly time?: number | undefined;
  /** The days of the week on which that is so, Sunday first. */
  readonly days?: readonly boolean[] | undefined;
};

/**
 * Says when a scan is due (integrity-and-inventory.md 3.1, 9): `frequency` seconds after the end of the last one, and
 * once on each day on which `<scan_time>` and `<scan_day>` hold. A day that fulfils them already at the start has had its
 * scan.
 */
export class ScanSchedule {
  readonly #times: ScanTimes;
  /** The last day that had its scan. */
  #day: string | undefined;
  /** Seconds of the clock that only goes forward. */
  #ended: number;

  /** @param now of the host @param seconds of a clock that only goes forward */
  constructor(times: ScanTimes, now: Date, seconds: number) {
    this.#times = times;
    this.#ended = seconds;
    if (this.#holds(now)) this.#day = now.toDateString();
  }

  /** A scan has ended, or was given up. */
  ended(seconds: number): void {
    this.#ended = seconds;
  }

  /** Whether a scan is to begin now. A day counts as done when it was told. */
  due(now: Date, seconds: number): boolean {
    if (this.#holds(now) && this.#day !== now.toDateString()) {
      this.#day = now.toDateString();
      return true;
    }
    return seconds - this.#ended > this.#times.frequency;
  }

  #holds(now: Date): boolean {
    const { time, days } = this.#times;
    if (time === undefined && days === undefined) return false;
    return (days?.[now.getDay()] ?? true) && now.getHours() * 60 + now.getMinutes() >= (time ?? 0);
  }
}
