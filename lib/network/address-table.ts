import { addressGroup } from './address-group.js';

/**
 * Addresses kept at once. Stops an attacker with many addresses from filling the memory; the oldest entry goes first,
 * which takes nothing from anybody: its address begins anew.
 */
const MAX_ADDRESSES = 10_000;

/** What is counted for each IPv4 address and each IPv6 network of /64. */
export class AddressTable<T> {
  readonly #make: () => T;
  readonly #entries = new Map<string, T>();

  /** @param make the entry of an address that is not known yet */
  constructor(make: () => T) {
    this.#make = make;
  }

  /** Addresses known. */
  get size(): number {
    return this.#entries.size;
  }

  /** The entry of an address; to be used at once. */
  of(address: string): T {
    const group = addressGroup(address);
    const known = this.#entries.get(group);
    if (known !== undefined) return known;
    if (this.#entries.size >= MAX_ADDRESSES) {
      const oldest = this.#entries.keys().next();
      if (oldest.done !== true) this.#entries.delete(oldest.value);
    }
    const made = this.#make();
    this.#entries.set(group, made);
    return made;
  }
}
