import { addressGroup } from '../../lib/network/address-group.js';

type QueuedLogin = { readonly go: () => void; readonly refuse: () => void };

/**
 * Lets a bounded number of jobs run at once, the waiting ones by turns of their addresses: whoever floods waits for himself.
 * When too many wait, the latest of the address that has most of them is refused.
 */
export class FairQueue {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  /** By address (IPv6: /64), the next one first. */
  readonly #waiting = new Map<string, QueuedLogin[]>();
  #waitingCount = 0;
  #running = 0;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Waits for a place; `leave` gives it back.
   * @returns false when the job was refused: then there is no place to be given back
   */
  async enter(address: string): Promise<boolean> {
    if (this.#running < this.#maxRunning) {
      this.#running += 1;
      return true;
    }
    const group = addressGroup(address);
    if (this.#waitingCount >= this.#maxWaiting && !this.#makeRoom(group)) return false;
    return new Promise((resolve) => {
      const others = this.#waiting.get(group) ?? [];
      others.push({ go: () => resolve(true), refuse: () => resolve(false) });
      this.#waiting.set(group, others);
      this.#waitingCount += 1;
    });
  }

  leave(): void {
    const first = this.#waiting.entries().next();
    if (first.done === true) {
      this.#running -= 1;
      return;
    }
    const [group, waiting] = first.value;
    const next = waiting.shift();
    this.#waitingCount -= 1;
    // Its address is the last one to have its turn again.
    this.#waiting.delete(group);
    if (waiting.length > 0) this.#waiting.set(group, waiting);
    next?.go();
  }

  /** @returns false when no address has more waiting than this one would have */
  #makeRoom(group: string): boolean {
    const own = this.#waiting.get(group)?.length ?? 0;
    let most: QueuedLogin[] = [];
    for (const waiting of this.#waiting.values()) if (waiting.length > most.length) most = waiting;
    if (most.length <= own + 1) return false;
    this.#waitingCount -= 1;
    most.pop()?.refuse();
    return true;
  }
}
