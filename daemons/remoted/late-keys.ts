import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import { addressGroup } from '../../lib/network/address-group.js';
import type { AgentLink } from './agent-link.js';
import type { KeyStore } from './link/key-store.js';
import { LATE_KEY_MS, MAX_LATE_BYTES, MAX_LATE_CONNECTIONS, MAX_LATE_PER_ADDRESS } from './remoted-limits.js';

/** A connection that stands still with a message in hand. */
export interface LateConnection {
  readonly source: string;
  /** Takes the message once more, and goes on. */
  again(message: Buffer): void;
}

type Waiting = {
  readonly id: string;
  readonly message: Buffer;
  /** The key that did not fit. */
  readonly key: AgentKey | undefined;
  readonly group: string;
  readonly timer: NodeJS.Timeout;
};

/**
 * Connections of agents whose key may be on its way: an agent that enrols at one node of a cluster may connect to another
 * before that has its key. So the first message of a connection that cannot be opened waits a moment for the keys to change,
 * and is refused only then. Nobody is asked for it, each connection waits once, and those that wait are few: whoever sends
 * made-up ids keeps nobody out, since without room a message is refused at once, as without a cluster (agents-and-groups.md 2.8).
 */
export class LateKeys {
  readonly counters = { waited: 0, came: 0, full: 0 };
  readonly #store: KeyStore<AgentLink>;
  readonly #waiting = new Map<LateConnection, Waiting>();
  readonly #perGroup = new Map<string, number>();
  readonly #known = new WeakSet<LateConnection>();
  #bytes = 0;

  constructor(store: KeyStore<AgentLink>) {
    this.#store = store;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Keeps the message for `again`.
   * @param id the agent that it says it is of
   * @returns false when it is to be refused now
   */
  wait(connection: LateConnection, id: string, message: Buffer): boolean {
    const key = this.#store.byId(id)?.key;
    // Ids are given in their order: one below those that are known is that of a removed agent, and no key is on its way.
    const mayCome = key !== undefined || (/^\d{1,8}$/.test(id) && Number(id) > this.#store.highestId);
    if (!mayCome || this.#known.has(connection)) return false;
    const group = addressGroup(connection.source);
    const ofGroup = this.#perGroup.get(group) ?? 0;
    const isFull = this.#waiting.size >= MAX_LATE_CONNECTIONS || this.#bytes + message.length > MAX_LATE_BYTES;
    if (isFull || ofGroup >= MAX_LATE_PER_ADDRESS) {
      this.counters.full += 1;
      return false;
    }
    this.#known.add(connection);
    this.#perGroup.set(group, ofGroup + 1);
    this.#bytes += message.length;
    this.counters.waited += 1;
    const timer = setTimeout(() => {
      this.#release(connection);
    }, LATE_KEY_MS);
    // The message lies in memory that is used again.
    this.#waiting.set(connection, { id, message: Buffer.from(message), key, group, timer });
    return true;
  }

  /** Keys have changed: those whose key is another now go on. */
  keysChanged(): void {
    for (const [connection, { id, key }] of [...this.#waiting]) {
      const now = this.#store.byId(id)?.key;
      if (now === undefined || now === key) continue;
      this.counters.came += 1;
      this.#release(connection);
    }
  }

  /** The connection is gone. */
  gone(connection: LateConnection): void {
    this.#take(connection);
  }

  stop(): void {
    for (const connection of [...this.#waiting.keys()]) this.#take(connection);
  }

  #release(connection: LateConnection): void {
    const waiting = this.#take(connection);
    if (waiting !== undefined) connection.again(waiting.message);
  }

  #take(connection: LateConnection): Waiting | undefined {
    const waiting = this.#waiting.get(connection);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(connection);
    clearTimeout(waiting.timer);
    this.#bytes -= waiting.message.length;
    const left = (this.#perGroup.get(waiting.group) ?? 1) - 1;
    if (left === 0) this.#perGroup.delete(waiting.group);
    else this.#perGroup.set(waiting.group, left);
    return waiting;
  }
}
