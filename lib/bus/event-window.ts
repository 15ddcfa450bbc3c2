import type { BusError } from './bus-error.js';
import type { BusEvent } from './bus-event.js';
import { MAX_WINDOW_BYTES, MAX_WINDOW_EVENTS } from './bus-limits.js';
import type { StreamState, Waiter } from './event-stream.js';

/** A `sendAll` that waits for its last event. */
export type Delivery = Waiter & { left: number };

export type WindowEntry = {
  readonly event: BusEvent;
  readonly stream: StreamState;
  readonly sequence: number;
  readonly delivery: Delivery | undefined;
};

/** Events nobody has acknowledged, oldest first; the first `sent` of them are on the wire. */
export class EventWindow {
  #entries: WindowEntry[] = [];
  /** Entries before it are settled and cleared. */
  #head = 0;
  #bytes = 0;
  /** Entries, from the oldest, that are on the wire of the present connection. */
  sent = 0;
  /** Entries, from the oldest, that were on any wire: sending them now is sending again. */
  everSent = 0;

  get size(): number {
    return this.#entries.length - this.#head;
  }

  /** Entries not yet on the wire. */
  get unsent(): number {
    return this.size - this.sent;
  }

  /** Events that may still be taken. The last one may cross the limit of bytes. */
  get room(): number {
    return this.#bytes >= MAX_WINDOW_BYTES ? 0 : MAX_WINDOW_EVENTS - this.size;
  }

  /** Whether a quarter is free: those who wait for room are called then, not for each single place. */
  get roomy(): boolean {
    return this.#bytes <= (MAX_WINDOW_BYTES / 4) * 3 && this.size <= (MAX_WINDOW_EVENTS / 4) * 3;
  }

  push(entry: WindowEntry): void {
    this.#entries.push(entry);
    this.#bytes += entry.event.message.length;
    entry.stream.pending++;
    entry.stream.taken = entry.sequence;
  }

  /** The oldest entry that is not on the wire. */
  nextUnsent(): WindowEntry | undefined {
    return this.#entries[this.#head + this.sent];
  }

  /** Settles the oldest `count` entries. */
  acknowledge(count: number): void {
    for (let taken = 0; taken < count; taken++) {
      const entry = this.#take();
      if (entry === undefined) return;
      entry.stream.acknowledged = Math.max(entry.stream.acknowledged, entry.sequence);
      settle(entry);
    }
  }

  /** Gives the oldest `count` entries up. */
  reject(count: number, error: BusError): void {
    for (let taken = 0; taken < count; taken++) this.#take()?.delivery?.reject(error);
  }

  #take(): WindowEntry | undefined {
    const entry = this.#entries[this.#head];
    if (entry === undefined) return undefined;
    this.#head++;
    // Copying what is left only when it is the smaller half costs a constant per entry.
    if (this.#head > 512 && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    this.#bytes -= entry.event.message.length;
    entry.stream.pending--;
    if (this.sent > 0) this.sent--;
    if (this.everSent > 0) this.everSent--;
    return entry;
  }

  /** Nothing is on the wire any more; what was will be sent again. */
  rewind(): void {
    this.everSent = Math.max(this.everSent, this.sent);
    this.sent = 0;
  }

  /**
   * Settles what the sink turned out to have: every entry its stream has acknowledged. Only when nothing is on the wire.
   * @returns how many
   */
  settleAcknowledged(): number {
    const kept: WindowEntry[] = [];
    let everSent = 0;
    let settled = 0;
    for (let index = this.#head; index < this.#entries.length; index++) {
      const entry = this.#entries[index];
      if (entry === undefined) continue;
      if (entry.sequence > entry.stream.acknowledged) {
        kept.push(entry);
        if (index - this.#head < this.everSent) everSent++;
      } else {
        this.#bytes -= entry.event.message.length;
        entry.stream.pending--;
        settled++;
        settle(entry);
      }
    }
    this.#entries = kept;
    this.#head = 0;
    this.everSent = everSent;
    return settled;
  }
}

function settle({ delivery }: WindowEntry): void {
  if (delivery !== undefined && --delivery.left === 0) delivery.resolve();
}
