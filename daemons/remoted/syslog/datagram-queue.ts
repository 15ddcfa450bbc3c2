import type { BusEvent } from '../../../lib/bus/bus-event.js';
import type { EventWindow } from '../event-gate.js';
import { MAX_WAITING_BYTES, MAX_WAITING_DATAGRAMS } from './syslog-limits.js';

type DatagramWindow = Pick<EventWindow, 'room' | 'trySend' | 'ready'>;

/**
 * Datagrams that wait while the bus has no room, as many as fit: their senders cannot be held back. With `n` senders
 * waiting each of them has the `n + 1`th part, so that who floods always leaves a place for one more.
 */
export class DatagramQueue {
  readonly #window: DatagramWindow;
  readonly #most: number;
  #queue: BusEvent[] = [];
  #bytes = 0;
  /** Waiting datagrams by sender. */
  readonly #bySender = new Map<string, number>();
  #waiting = false;
  #closed = false;
  #emptied: (() => void) | undefined;

  constructor(window: DatagramWindow, most = MAX_WAITING_DATAGRAMS) {
    this.#window = window;
    this.#most = most;
  }

  get size(): number {
    return this.#queue.length;
  }

  /** Hands an event on, or keeps it for later; false when it is lost. */
  offer(event: BusEvent): boolean {
    if (this.#queue.length === 0 && this.#window.room > 0 && this.#window.trySend(event)) return true;
    const waiting = this.#bySender.get(event.location) ?? 0;
    const share = this.#most / (this.#bySender.size + (waiting === 0 ? 2 : 1));
    if (waiting >= share || this.#queue.length >= this.#most || this.#bytes >= MAX_WAITING_BYTES) return false;
    this.#queue.push(event);
    this.#bytes += event.message.length;
    this.#bySender.set(event.location, waiting + 1);
    this.#wait();
    return true;
  }

  /** Resolves when nothing waits; never while the bus has no room. */
  async empty(): Promise<void> {
    if (this.#queue.length === 0) return;
    await new Promise<void>((resolve) => (this.#emptied = resolve));
  }

  /** Nothing more is handed on. */
  close(): void {
    this.#closed = true;
  }

  #wait(): void {
    if (this.#waiting || this.#closed) return;
    this.#waiting = true;
    this.#window.ready().then(
      () => {
        this.#waiting = false;
        if (!this.#closed) this.#release();
      },
      () => {
        // The producer was closed: the daemon stops.
      },
    );
  }

  /** Half of the room is left to connections, which wait for it as well. */
  #release(): void {
    let room = Math.ceil(this.#window.room / 2);
    let taken = 0;
    for (const event of this.#queue) {
      if (room <= 0 || !this.#window.trySend(event)) break;
      room -= 1;
      taken += 1;
      this.#bytes -= event.message.length;
      this.#left(event.location);
    }
    if (taken > 0) this.#queue = this.#queue.slice(taken);
    if (this.#queue.length > 0) this.#wait();
    else this.#emptied?.();
  }

  #left(sender: string): void {
    const waiting = (this.#bySender.get(sender) ?? 1) - 1;
    if (waiting > 0) this.#bySender.set(sender, waiting);
    else this.#bySender.delete(sender);
  }
}
