import { addressGroup } from '../../lib/network/address-group.js';
import { RateLimit } from './rate-limit.js';

/**
 * Addresses counted at once. Stops an attacker with many addresses from filling the memory; the oldest entry goes first,
 * which takes nothing from anybody: its address begins a new window.
 */
const MAX_ADDRESSES = 10_000;

/** A rate limit of its own for each IPv4 address and each IPv6 network of /64. */
export class AddressBudgets {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #budgets = new Map<string, RateLimit>();

  /**
   * @param limit requests a minute of one address; 0 admits everything
   * @param now milliseconds of a clock that never goes back
   */
  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Addresses counted. */
  get size(): number {
    return this.#budgets.size;
  }

  /** The limit of an address, for one request now. */
  of(address: string): RateLimit {
    const group = addressGroup(address);
    const known = this.#budgets.get(group);
    if (known !== undefined) return known;
    if (this.#budgets.size >= MAX_ADDRESSES) {
      const oldest = this.#budgets.keys().next();
      if (oldest.done !== true) this.#budgets.delete(oldest.value);
    }
    const budget = new RateLimit(this.#limit, this.#now);
    this.#budgets.set(group, budget);
    return budget;
  }
}
