import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import { AddressTable } from '../../lib/network/address-table.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** What one address (IPv6: one /64) may do; 0 is no limit. */
export type EnrollmentRates = {
  /**
   * Requests, whatever comes of them (`authd.enrollments_per_minute`): so many at once, and then as they come in. Stops
   * guessing of passwords and floods of names; a site that rolls out thousands of agents at once is through in minutes,
   * since agents try again by themselves.
   */
  readonly perMinute: number;
  /** Agents added (`authd.enrollments_per_day`). Stops whoever is patient from filling key file, ids and svc-db. */
  readonly perDay: number;
};

type Use = { credit: number; creditAt: number; keys: number; dayFrom: number };

/** How often, and how many, agents enrol from one address. What is counted is forgotten when the process ends. */
export class EnrollmentLimits {
  readonly #rates: () => EnrollmentRates;
  readonly #now: () => number;
  readonly #addresses: AddressTable<Use>;
  readonly #log: LimitedLogger;
  #refused = 0;

  /**
   * @param rates those in force
   * @param now milliseconds of a clock that is not set
   */
  constructor(
    rates: () => EnrollmentRates,
    logger: Pick<Logger, 'limited'>,
    now: () => number = () => performance.now(),
  ) {
    this.#rates = rates;
    this.#now = now;
    this.#addresses = new AddressTable(() => ({ credit: Infinity, creditAt: now(), keys: 0, dayFrom: now() }));
    this.#log = logger.limited(now);
  }

  /** Requests refused. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Counts a request.
   * @returns why it is refused, for the agent; undefined when it may go on
   */
  refusal(address: string): string | undefined {
    const { perMinute, perDay } = this.#rates();
    const use = this.#addresses.of(address);
    const now = this.#now();
    if (now - use.dayFrom >= DAY_MS) [use.keys, use.dayFrom] = [0, now];
    use.credit = Math.min(perMinute, use.credit + ((now - use.creditAt) / MINUTE_MS) * perMinute);
    use.creditAt = now;
    if (perMinute > 0 && use.credit < 1) {
      return this.#refuse(address, `more than ${perMinute} requests a minute (authd.enrollments_per_minute)`);
    }
    use.credit = Math.max(0, use.credit - 1);
    if (perDay > 0 && use.keys >= perDay) {
      return this.#refuse(address, `more than ${perDay} keys a day (authd.enrollments_per_day)`);
    }
    return undefined;
  }

  /** An agent of the address was added, and has its key. */
  given(address: string): void {
    this.#addresses.of(address).keys += 1;
  }

  #refuse(address: string, what: string): string {
    this.#refused += 1;
    this.#log.warn(`Too many enrolments from ${address}: ${what}. Refusing those on top.`);
    return 'Too many enrollments from this address';
  }
}
