import { KeyedLock } from '../../../lib/async/keyed-lock.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import type { FeedStore, Recipients, StoredOrder } from './feed-store.js';

/** An order that somebody waits for. */
export type WaitingOrder = { readonly expires: number; readonly recipients: Recipients };

const NOBODY: Recipients = { agents: [], all: false };

/** Orders that have not been sent to all of their agents yet: what they say is on disk, who is left of each in memory, too. */
export class WaitingOrders {
  readonly #store: FeedStore;
  readonly #waiting = new Map<number, WaitingOrder>();
  /** What is left of an order is written by those who sent it, in turn. */
  readonly #lock = new KeyedLock();
  #lastId = 0;

  constructor(store: FeedStore) {
    this.#store = store;
    for (const [id, { expires }] of store.orders.entries()) {
      this.#waiting.set(id, { expires, recipients: store.recipients.get(id) ?? NOBODY });
      this.#lastId = id;
    }
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Agents that something waits for; one is counted as often as it is waited for. */
  get agents(): number {
    let count = 0;
    for (const { recipients } of this.#waiting.values()) count += recipients.agents.length + (recipients.all ? 1 : 0);
    return count;
  }

  /** The oldest first. */
  all(): readonly (readonly [number, WaitingOrder])[] {
    return [...this.#waiting];
  }

  get oldest(): number | undefined {
    return this.#waiting.keys().next().value;
  }

  /** Who is left of it. */
  recipients(id: number): Recipients | undefined {
    return this.#waiting.get(id)?.recipients;
  }

  /** What it says. */
  order(id: number): StoredOrder | undefined {
    return this.#store.orders.get(id);
  }

  /** Takes one over, together with other changes. @throws StoreError: it is not taken */
  async add(order: StoredOrder, recipients: Recipients, beside: readonly Change[]): Promise<void> {
    const { orders, recipients: left } = this.#store;
    const id = (this.#lastId += 1);
    await this.#store.commit([orders.put(id, order), left.put(id, recipients), ...beside]);
    this.#waiting.set(id, { expires: order.expires, recipients });
  }

  /** These are all that are left of it; nobody: it is over. @throws StoreError */
  async keep(id: number, choose: (left: readonly string[]) => readonly string[]): Promise<void> {
    await this.#lock.exclusive(String(id), async () => {
      const waiting = this.#waiting.get(id);
      if (waiting === undefined) return;
      const agents = choose(waiting.recipients.agents);
      if (agents.length === 0) {
        await this.#store.commit([this.#store.orders.remove(id), this.#store.recipients.remove(id)]);
        this.#waiting.delete(id);
        return;
      }
      const recipients = { agents: [...agents], all: false };
      await this.#store.commit([this.#store.recipients.put(id, recipients)]);
      this.#waiting.set(id, { ...waiting, recipients });
    });
  }

  /** These have it, or never will. @throws StoreError */
  async without(id: number, agents: readonly string[]): Promise<void> {
    const gone = new Set(agents);
    await this.keep(id, (left) => left.filter((agent) => !gone.has(agent)));
  }
}
