import type { BusError } from './bus-error.js';
import type { BusEvent } from './bus-event.js';
import { MAX_WINDOW_BYTES, MAX_WINDOW_EVENTS } from './bus-limits.js';
import type { StreamState, Waiter } from './event-stream.js';

/** A `send` or `sendAll` that waits for its last event. */
export type Delivery = Waiter & {
  /** Events that are not acknowledged. */
  left: number;
  readonly events: number;
  /** Its sender wants to be told soon when it is refused, and then takes it back. */
  readonly withdrawable: boolean;
};

export type WindowEntry = {
  readonly event: BusEvent;
  readonly stream: StreamState;
  readonly sequence: number;
  readonly delivery: Delivery | undefined;
  /** It was on a wire and the answer can no longer come: the sink may have it. */
  doubtful: boolean;
  /** Its sender took it back while it was on the wire: it will not be sent again. */
  withdrawn: boolean;
};

/** What came of taking deliveries back. */
export type Withdrawal = {
  /** Events that left the window at once. */
  readonly removed: number;
  /** The deliveries of which no sink has taken an event, nor will. */
  readonly clean: ReadonlySet<Delivery>;
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

  push(stream: StreamState, event: BusEvent, sequence: number, delivery: Delivery | undefined): void {
    this.#entries.push({ event, stream, sequence, delivery, doubtful: false, withdrawn: false });
    this.#bytes += event.message.length;
    stream.pending += 1;
    stream.taken = sequence;
  }

  /** The oldest entry that is not on the wire. */
  nextUnsent(): WindowEntry | undefined {
    return this.#entries[this.#head + this.sent];
  }

  /** Settles the oldest `count` entries. */
  acknowledge(count: number): void {
    for (let taken = 0; taken < count; taken += 1) {
      const entry = this.#take();
      if (entry === undefined) return;
      entry.stream.acknowledged = Math.max(entry.stream.acknowledged, entry.sequence);
      settle(entry);
    }
  }

  /** Gives the oldest `count` entries up. */
  reject(count: number, error: BusError): void {
    for (let taken = 0; taken < count; taken += 1) this.#take()?.delivery?.reject(error);
  }

  #take(): WindowEntry | undefined {
    const entry = this.#entries[this.#head];
    if (entry === undefined) return undefined;
    this.#head += 1;
    // Copying what is left only when it is the smaller half costs a constant per entry.
    if (this.#head > 512 && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    this.#bytes -= entry.event.message.length;
    entry.stream.pending -= 1;
    if (this.sent > 0) this.sent -= 1;
    if (this.everSent > 0) this.everSent -= 1;
    return entry;
  }

  /**
   * Nothing is on the wire any more; what was will be sent again, except what its sender took back.
   * @returns how many left the window
   */
  rewind(): number {
    this.everSent = Math.max(this.everSent, this.sent);
    for (let index = 0; index < this.sent; index += 1) {
      const entry = this.#entries[this.#head + index];
      if (entry !== undefined) entry.doubtful = true;
    }
    this.sent = 0;
    return this.#filter((entry) => !entry.withdrawn);
  }

  /**
   * The sink has not taken `count` entries that stand behind the oldest `before`. What is on the wire behind them is
   * off it too: where it belongs to a stream that now has a hole, the sink will not take it either.
   */
  refuse(before: number, count: number): void {
    const holes = new Set<StreamState>();
    for (let index = before; index < this.sent; index += 1) {
      const entry = this.#entries[this.#head + index];
      if (entry === undefined) continue;
      // One that is doubtful may be with the sink since earlier, and is then no hole.
      if (index < before + count) {
        if (!entry.doubtful) holes.add(entry.stream);
      } else if (!holes.has(entry.stream)) {
        entry.doubtful = true;
      }
    }
    this.everSent = Math.max(this.everSent, this.sent);
    this.sent = Math.min(this.sent, before);
  }

  /** The withdrawable deliveries that have an entry which is not on the wire. */
  waitingDeliveries(): Set<Delivery> {
    const found = new Set<Delivery>();
    for (let index = this.#head + this.sent; index < this.#entries.length; index += 1) {
      const delivery = this.#entries[index]?.delivery;
      if (delivery?.withdrawable === true) found.add(delivery);
    }
    return found;
  }

  /** Whether a sink may have an event of the delivery, or get it without being sent it again. */
  touched(delivery: Delivery): boolean {
    if (delivery.left < delivery.events) return true;
    return this.#entries.some(
      (entry, index) => entry.delivery === delivery && (entry.doubtful || index < this.#head + this.sent),
    );
  }

  /** Takes deliveries back: their entries leave at once, or when they come off the wire. */
  withdraw(deliveries: ReadonlySet<Delivery>): Withdrawal {
    const clean = new Set([...deliveries].filter(({ left, events }) => left === events));
    const onWire = this.#head + this.sent;
    const removed = this.#filter((entry, index) => {
      if (entry.delivery === undefined || !deliveries.has(entry.delivery)) return true;
      entry.withdrawn = true;
      if (entry.doubtful || index < onWire) clean.delete(entry.delivery);
      return index < onWire;
    });
    return { removed, clean };
  }

  /**
   * Settles what the sink turned out to have: every entry its stream has acknowledged. Only when nothing is on the wire.
   * @returns how many
   */
  settleAcknowledged(): number {
    return this.#filter((entry) => {
      if (entry.sequence > entry.stream.acknowledged) return true;
      settle(entry);
      return false;
    });
  }

  /** Keeps the entries that pass; those on the wire must. @returns how many left */
  #filter(keep: (entry: WindowEntry, index: number) => boolean): number {
    const kept: WindowEntry[] = [];
    const before = this.size;
    let everSent = 0;
    for (let index = this.#head; index < this.#entries.length; index += 1) {
      const entry = this.#entries[index];
      if (entry === undefined) continue;
      if (keep(entry, index)) {
        kept.push(entry);
        if (index - this.#head < this.everSent) everSent += 1;
      } else {
        this.#bytes -= entry.event.message.length;
        entry.stream.pending -= 1;
      }
    }
    this.#entries = kept;
    this.#head = 0;
    this.everSent = everSent;
    return before - kept.length;
  }
}

function settle({ delivery }: WindowEntry): void {
  if (delivery !== undefined && --delivery.left === 0) delivery.resolve();
}
