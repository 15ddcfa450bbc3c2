import { addressGroup } from './address-group.js';

/** How many connections a listener holds. */
export type ConnectionLimits = {
  /** All of them. */
  readonly total: number;
  /** Those that have not yet shown that they belong to somebody we know. */
  readonly unproven: number;
  /** The same, of one IPv4 address or one IPv6 network of /64. */
  readonly unprovenPerAddress: number;
};

export type ConnectionBudgetParts<C> = {
  readonly limits: ConnectionLimits;
  /** Ends a connection that has to make room for others. @param address as `addressGroup` names it */
  readonly close: (connection: C, address: string) => void;
};

/**
 * Which connections of a listener stay when there are too many. Whoever opens connections and shows nothing takes room
 * from himself: the oldest such connection of an address goes first, then the oldest of all. Proven connections are
 * neither counted for their address, which may be that of a whole site, nor closed.
 */
export class ConnectionBudget<C extends object> {
  readonly #parts: ConnectionBudgetParts<C>;
  /** Unproven connections and the group of their address, the oldest first. */
  readonly #unproven = new Map<C, string>();
  /** The same by address. */
  readonly #byAddress = new Map<string, Set<C>>();
  readonly #proven = new Set<C>();
  /** Addresses to be looked at by the next `#trim`. */
  readonly #crowded = new Set<string>();
  #trimming = false;

  constructor(parts: ConnectionBudgetParts<C>) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#unproven.size + this.#proven.size;
  }

  get unproven(): number {
    return this.#unproven.size;
  }

  /**
   * Takes a new connection.
   * @param address of the peer, as the socket tells it
   * @returns false when it has to be refused: every place is that of a proven one
   */
  open(connection: C, address: string): boolean {
    const { total, unproven, unprovenPerAddress } = this.#parts.limits;
    if (this.#unproven.size === 0 && this.#proven.size >= total) return false;
    const group = addressGroup(address);
    const others = this.#byAddress.get(group) ?? new Set();
    others.add(connection);
    this.#byAddress.set(group, others);
    this.#unproven.set(connection, group);
    if (others.size > unprovenPerAddress) this.#crowded.add(group);
    else if (this.#unproven.size <= unproven && this.size <= total) return true;
    this.#trimSoon();
    return true;
  }

  /** The connection belongs to somebody we know. */
  prove(connection: C): void {
    if (this.#leave(connection)) this.#proven.add(connection);
  }

  /** The connection is gone. */
  closed(connection: C): void {
    this.#leave(connection);
    this.#proven.delete(connection);
  }

  /**
   * Many may come in one turn of the event loop, and what they have sent is read in the next one: only after that is it
   * known who of them shows nothing. Meanwhile there are as many more as the listener's backlog holds.
   */
  #trimSoon(): void {
    if (this.#trimming) return;
    this.#trimming = true;
    setImmediate(() => {
      setImmediate(() => {
        this.#trimming = false;
        this.#trim();
      });
    });
  }

  #trim(): void {
    const { total, unproven, unprovenPerAddress } = this.#parts.limits;
    for (const group of this.#crowded) {
      const connections = this.#byAddress.get(group) ?? [];
      let excess = (this.#byAddress.get(group)?.size ?? 0) - unprovenPerAddress;
      for (const connection of connections) {
        if (excess <= 0) break;
        excess -= 1;
        this.#evict(connection, group);
      }
    }
    this.#crowded.clear();
    for (const [connection, group] of this.#unproven) {
      if (this.#unproven.size <= unproven && this.size <= total) break;
      this.#evict(connection, group);
    }
  }

  #evict(connection: C, group: string): void {
    this.closed(connection);
    this.#parts.close(connection, group);
  }

  /** Whether it was among the unproven ones. */
  #leave(connection: C): boolean {
    const group = this.#unproven.get(connection);
    if (group === undefined) return false;
    this.#unproven.delete(connection);
    const others = this.#byAddress.get(group);
    others?.delete(connection);
    if (others?.size === 0) this.#byAddress.delete(group);
    return true;
  }
}
