import type { AccessSettings } from '../api-settings.js';
import { AddressBlock } from './address-block.js';
import { RateLimit } from './rate-limit.js';

/** Requests a minute on `/events`, whatever the general limit is (rest-api.md 1.6, product.md 8). */
const EVENTS_PER_MINUTE = 30;

/** The limits in front of every request; made anew when their settings change. */
export class AccessGuards {
  readonly #now: () => number;
  #general: RateLimit;
  #events: RateLimit;
  #addresses: AddressBlock;
  #settings: AccessSettings;

  /** @param now milliseconds of a clock that never goes back */
  constructor(settings: AccessSettings, now: () => number) {
    this.#now = now;
    this.#settings = settings;
    this.#general = new RateLimit(settings.maxRequestsPerMinute, now);
    this.#events = new RateLimit(Math.min(settings.maxRequestsPerMinute, EVENTS_PER_MINUTE), now);
    this.#addresses = new AddressBlock(settings.maxLoginAttempts, settings.blockSeconds, now);
  }

  get general(): RateLimit {
    return this.#general;
  }

  get events(): RateLimit {
    return this.#events;
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
    }
    if (settings.maxLoginAttempts !== old.maxLoginAttempts || settings.blockSeconds !== old.blockSeconds) {
      this.#addresses = new AddressBlock(settings.maxLoginAttempts, settings.blockSeconds, this.#now);
    }
  }
}
