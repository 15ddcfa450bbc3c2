import { AddressTable } from '../../lib/network/address-table.js';
import type { AccessSettings } from '../api-settings.js';
import { AddressBlock } from './address-block.js';
import { RateLimit } from './rate-limit.js';

/** Requests a minute on `/events`, whatever the general limit is (rest-api.md 1.6, product.md 8). */
const EVENTS_PER_MINUTE = 30;

/**
 * The limits in front of every request; made anew when their settings change. Whoever has not shown who he is counts for
 * his address alone: a flood of such requests stops its own address and takes nothing from users. Logins have budgets
 * beside those, so that behind the address of a flood users can still log in.
 */
export class AccessGuards {
  readonly #now: () => number;
  #general: RateLimit;
  #events: RateLimit;
  #anonymous: AddressTable<RateLimit>;
  #logins: AddressTable<RateLimit>;
  #addresses: AddressBlock;
  #settings: AccessSettings;

  /** @param now milliseconds of a clock that never goes back */
  constructor(settings: AccessSettings, now: () => number) {
    this.#now = now;
    this.#settings = settings;
    this.#general = new RateLimit(settings.maxRequestsPerMinute, now);
    this.#events = new RateLimit(Math.min(settings.maxRequestsPerMinute, EVENTS_PER_MINUTE), now);
    this.#anonymous = budgets(settings, now);
    this.#logins = budgets(settings, now);
    this.#addresses = new AddressBlock(settings.maxLoginAttempts, settings.blockSeconds, now);
  }

  /** Of all requests with a valid token, and of logins that succeeded. */
  get general(): RateLimit {
    return this.#general;
  }

  /** Of requests to `/events` with a valid token. */
  get events(): RateLimit {
    return this.#events;
  }

  /** Of requests without a valid token, by address. */
  get anonymous(): AddressTable<RateLimit> {
    return this.#anonymous;
  }

  /** Of logins, by address. */
  get logins(): AddressTable<RateLimit> {
    return this.#logins;
  }

  get addresses(): AddressBlock {
    return this.#addresses;
  }

  /** Takes new settings; counts and blocks go on when nothing of theirs changed. */
  update(settings: AccessSettings): void {
    const old = this.#settings;
    this.#settings = settings;
    if (settings.maxRequestsPerMinute !== old.maxRequestsPerMinute) {
      this.#general = new RateLimit(settings.maxRequestsPerMinute, this.#now);
      this.#events = new RateLimit(Math.min(settings.maxRequestsPerMinute, EVENTS_PER_MINUTE), this.#now);
      this.#anonymous = budgets(settings, this.#now);
      this.#logins = budgets(settings, this.#now);
    }
    if (settings.maxLoginAttempts !== old.maxLoginAttempts || settings.blockSeconds !== old.blockSeconds) {
      this.#addresses = new AddressBlock(settings.maxLoginAttempts, settings.blockSeconds, this.#now);
    }
  }
}

function budgets({ maxRequestsPerMinute }: AccessSettings, now: () => number): AddressTable<RateLimit> {
  return new AddressTable(() => new RateLimit(maxRequestsPerMinute, now));
}
