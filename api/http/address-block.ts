import { addressGroup } from '../../lib/network/address-group.js';

/**
 * Addresses remembered at once. Stops an attacker with many addresses (IPv6) from filling the memory; the oldest entry
 * goes first.
 */
const MAX_ADDRESSES = 100_000;

type FailedLogins = { readonly firstAt: number; count: number };

/**
 * Blocks addresses whose logins fail too often (rest-api.md 1.6), of IPv6 the whole /64: whoever has one address of it has
 * them all. A successful login does not clear the count.
 */
export class AddressBlock {
  readonly #maxAttempts: number;
  readonly #blockMs: number;
  readonly #now: () => number;
  readonly #failures = new Map<string, FailedLogins>();

  /**
   * @param maxAttempts failures that block an address
   * @param blockSeconds seconds after the first failure until count and block vanish
   * @param now milliseconds of a clock that never goes back
   */
  constructor(maxAttempts: number, blockSeconds: number, now: () => number) {
    this.#maxAttempts = maxAttempts;
    this.#blockMs = blockSeconds * 1000;
    this.#now = now;
  }

  /** Whether login requests of this address are refused; forgets an entry whose time is over. */
  isBlocked(address: string): boolean {
    const group = addressGroup(address);
    const failures = this.#failures.get(group);
    if (failures === undefined) return false;
    if (this.#now() - failures.firstAt >= this.#blockMs) {
      this.#failures.delete(group);
      return false;
    }
    return failures.count >= this.#maxAttempts;
  }

  /**
   * Counts a failed login.
   * @returns true when this failure blocks the address
   */
  recordFailure(address: string): boolean {
    const group = addressGroup(address);
    const failures = this.#failures.get(group);
    if (failures !== undefined) {
      failures.count += 1;
      return failures.count === this.#maxAttempts;
    }
    if (this.#failures.size >= MAX_ADDRESSES) {
      const oldest = this.#failures.keys().next();
      if (oldest.done !== true) this.#failures.delete(oldest.value);
    }
    this.#failures.set(group, { firstAt: this.#now(), count: 1 });
    return this.#maxAttempts <= 1;
  }
}
