import { READ_AHEAD_BYTES, READ_AHEAD_EVENTS } from './remoted-limits.js';

/**
 * How far one connection may be ahead of the acknowledgement of its events: two blocks of them at most. What is further
 * is not read, but waits with the agent, where no end of this process can lose it; and no agent fills the window of all.
 */
export class ReadAhead {
  #events = 0;
  #bytes = 0;
  /** Place of the last event on the bus, and of the last one of the block before. */
  #last = 0;
  #endBefore = 0;

  /** Whether another event may be handed on. @param settled events of all connections that are acknowledged, in their order */
  allows(settled: number): boolean {
    return !this.#isFull || settled >= this.#endBefore;
  }

  /** An event was handed on. @param place how many there were, of all connections, with it */
  took(place: number, bytes: number): void {
    if (this.#isFull) {
      this.#events = 0;
      this.#bytes = 0;
      this.#endBefore = this.#last;
    }
    this.#events += 1;
    this.#bytes += bytes;
    this.#last = place;
  }

  get #isFull(): boolean {
    return this.#events >= READ_AHEAD_EVENTS || this.#bytes >= READ_AHEAD_BYTES;
  }
}
