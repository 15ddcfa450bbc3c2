import { KeyedLock } from '../../lib/async/keyed-lock.js';

/** Agents that are remembered, over all orders: the oldest orders are forgotten. Stops orders from filling the memory. */
const MOST_AGENTS = 200_000;

/**
 * What was sent to agents for another node, by the name that it gave it: when the answer does not reach that node it asks again, and
 * nobody gets it twice.
 */
export class SentOnce {
  readonly #sent = new Map<string, Set<string>>();
  readonly #lock = new KeyedLock();
  readonly #most: number;
  #agents = 0;

  constructor(most = MOST_AGENTS) {
    this.#most = most;
  }

  /**
   * Sends to those that have not got it; two that ask for the same do so in turn.
   * @param send gives those that did not get it
   */
  async send<F extends { readonly id: string }>(
    name: string,
    agents: readonly string[],
    send: (agents: readonly string[]) => Promise<F[]>,
  ): Promise<F[]> {
    return await this.#lock.exclusive(name, async () => {
      const before = this.#sent.get(name);
      const left = agents.filter((agent) => before?.has(agent) !== true);
      const failed = await send(left);
      const failedIds = new Set(failed.map(({ id }) => id));
      this.#note(
        name,
        left.filter((agent) => !failedIds.has(agent)),
      );
      return failed;
    });
  }

  #note(name: string, agents: readonly string[]): void {
    const sent = this.#sent.get(name) ?? new Set();
    this.#agents += agents.length;
    for (const agent of agents) sent.add(agent);
    this.#sent.delete(name);
    if (sent.size > 0) this.#sent.set(name, sent);
    for (const [oldest, forgotten] of this.#sent) {
      if (this.#agents <= this.#most || oldest === name) return;
      this.#sent.delete(oldest);
      this.#agents -= forgotten.size;
    }
  }
}
