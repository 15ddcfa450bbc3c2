import type { BusEvent } from '../../lib/bus/bus-event.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import type { ReadAhead } from './read-ahead.js';
import { MAX_QUEUED_BYTES, MAX_READMITTED } from './remoted-limits.js';

/** The part of `EventProducer` that is used. */
export type EventWindow = {
  readonly room: number;
  readonly pending: number;
  trySend(event: BusEvent): boolean;
  ready(): Promise<void>;
  progress(): Promise<void>;
};

/** A source that stands still while its event waits. */
export interface WaitingSource {
  readonly ahead: ReadAhead;
  /** Its event is on its way: it may go on with what it has read. @returns false when it stands still again */
  resume(): boolean;
  /** It may read on. */
  read(): void;
}

/**
 * Hands agents' events to the bus. While the bus has no room, or has not acknowledged what a source gave it, that source
 * over TCP stands still with the event it has in hand, and the network holds back what follows; events over UDP wait in a
 * bounded queue and are counted when they do not fit (architecture.md 4 "Events").
 */
export class EventGate {
  readonly #window: EventWindow;
  readonly #mostQueued: number;
  readonly #fullLog: LimitedLogger;
  #held = new Map<WaitingSource, BusEvent>();
  /** Sources that are too far ahead of the acknowledgements; they hold up nobody else. */
  readonly #ahead = new Map<WaitingSource, BusEvent>();
  /** Events handed on, of all sources. */
  #sent = 0;
  #queue: BusEvent[] = [];
  #queuedBytes = 0;
  /** Sources without an event in hand that do not read yet. */
  #drained: WaitingSource[] = [];
  #waiting = false;
  #following = false;
  #admitting = false;
  #closed = false;
  #emptied: (() => void) | undefined;

  /** @param mostQueued `<queue_size>`, events */
  constructor(window: EventWindow, mostQueued: number, logger: Logger) {
    this.#window = window;
    this.#mostQueued = mostQueued;
    this.#fullLog = logger.limited();
  }

  /** Events that wait in the queue. */
  get queued(): number {
    return this.#queue.length;
  }

  /** Sources that stand still. */
  get holders(): readonly WaitingSource[] {
    return [...this.#held.keys(), ...this.#ahead.keys()];
  }

  get heldCount(): number {
    return this.#held.size + this.#ahead.size;
  }

  /** Hands an event on; false when its source has to stand still until `resume`: the event is then kept for it. */
  offer(event: BusEvent, holder: WaitingSource): boolean {
    if (!holder.ahead.allows(this.#settled)) {
      this.#ahead.set(holder, event);
      this.#follow();
      return false;
    }
    if (this.#free && this.#send(event, holder)) return true;
    this.#held.set(holder, event);
    this.#wait();
    return false;
  }

  /** Hands on an event whose source cannot stand still; false when it is lost. */
  queue(event: BusEvent): boolean {
    if (this.#free && this.#send(event)) return true;
    if (this.#queue.length >= this.#mostQueued || this.#queuedBytes >= MAX_QUEUED_BYTES) {
      this.#fullLog.warn(`Message queue is full (${String(this.#queue.length)}). Events may be lost.`);
      return false;
    }
    this.#queue.push(event);
    this.#queuedBytes += event.message.length;
    this.#wait();
    return true;
  }

  /** Resolves when no event waits here; never while the bus has no room. */
  async empty(): Promise<void> {
    if (this.#isEmpty) return;
    await new Promise<void>((resolve) => (this.#emptied = resolve));
  }

  /** Nothing more is handed on. */
  close(): void {
    this.#closed = true;
  }

  get #isEmpty(): boolean {
    return this.#held.size === 0 && this.#ahead.size === 0 && this.#queue.length === 0;
  }

  /** Events that need not be followed any more: they leave the window in the order in which they came. */
  get #settled(): number {
    return this.#sent - this.#window.pending;
  }

  #send(event: BusEvent, holder?: WaitingSource): boolean {
    if (!this.#window.trySend(event)) return false;
    this.#sent += 1;
    holder?.ahead.took(this.#sent, event.message.length);
    return true;
  }

  /** Waits for acknowledgements on behalf of those that are too far ahead. */
  #follow(): void {
    if (this.#following || this.#closed) return;
    this.#following = true;
    this.#window.progress().then(
      () => {
        this.#following = false;
        this.#releaseAhead();
      },
      () => {
        // The producer was closed: the daemon stops.
      },
    );
  }

  #releaseAhead(): void {
    if (this.#closed) return;
    for (const [holder, event] of [...this.#ahead]) {
      if (!holder.ahead.allows(this.#settled)) continue;
      this.#ahead.delete(holder);
      if (this.offer(event, holder) && holder.resume()) holder.read();
    }
    if (this.#ahead.size > 0) this.#follow();
    else if (this.#isEmpty) this.#emptied?.();
  }

  /** Who comes while others wait has to wait behind them. */
  get #free(): boolean {
    return this.#held.size === 0 && this.#queue.length === 0 && this.#window.room > 0;
  }

  #wait(): void {
    if (this.#waiting || this.#closed) return;
    this.#waiting = true;
    this.#window.ready().then(
      () => {
        this.#waiting = false;
        this.#release();
      },
      () => {
        // The producer was closed: the daemon stops.
      },
    );
  }

  #release(): void {
    if (this.#closed) return;
    this.#releaseQueue();
    const waiting = [...this.#held];
    this.#held = new Map();
    for (const [index, [holder, event]] of waiting.entries()) {
      if (this.#queue.length > 0 || this.#window.room <= 0 || !this.#send(event, holder)) {
        // Those not served yet come before those that stand still again.
        this.#held = new Map([...waiting.slice(index), ...this.#held]);
        break;
      }
      if (holder.resume()) this.#drained.push(holder);
    }
    if (this.#held.size > 0 || this.#queue.length > 0) {
      this.#wait();
    } else {
      if (this.#isEmpty) this.#emptied?.();
      this.#admitSoon();
    }
  }

  /** After a stall each source may have much to read: they begin group by group, when nobody has an event in hand. */
  #admitSoon(): void {
    if (this.#admitting || this.#drained.length === 0) return;
    this.#admitting = true;
    setImmediate(() => {
      this.#admitting = false;
      // Those that stand still again are released first; this is then called again.
      if (this.#closed || this.#held.size > 0 || this.#queue.length > 0) return;
      for (const holder of this.#drained.splice(0, MAX_READMITTED)) holder.read();
      this.#admitSoon();
    });
  }

  #releaseQueue(): void {
    let taken = 0;
    for (const event of this.#queue) {
      if (this.#window.room <= 0 || !this.#send(event)) break;
      this.#queuedBytes -= event.message.length;
      taken += 1;
    }
    if (taken > 0) this.#queue = this.#queue.slice(taken);
  }
}
