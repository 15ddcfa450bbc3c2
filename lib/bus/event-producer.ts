import { randomUUID } from 'node:crypto';
import type { Logger } from '../log/logger.js';
import { BusError } from './bus-error.js';
import type { BusEvent } from './bus-event.js';
import { MAX_WINDOW_EVENTS } from './bus-limits.js';
import { checkEvent, isSequence, isStreamName } from './event-check.js';
import { EventLink, type EventLinkCounters } from './event-link.js';
import { type EventStream, StreamState, type Waiter } from './event-stream.js';
import { type Delivery, EventWindow } from './event-window.js';

export type EventProducerOptions = {
  /** Socket path, `home.eventsSocket()`. */
  readonly path: string;
  /** Who produces, such as `svc-apid`: the first part of the name of the producer's own stream. */
  readonly daemon: string;
  readonly logger: Logger;
  /** How long after `start` a sink that has not been there yet is waited for without a warning, milliseconds. */
  readonly graceMs?: number;
};

/** Default of `graceMs`: a large ruleset on a busy machine takes its time. */
const FIRST_SINK_GRACE_MS = 60_000;

export type EventProducerCounters = EventLinkCounters & {
  /** Events not taken because the window was full. */
  refused: number;
};

/** How long a sender waits who wants to be told soon. */
export type SendLimits = {
  /** Milliseconds until everything is acknowledged. */
  readonly deadlineMs: number;
  /** Milliseconds until the first event is on its way to a sink; default `deadlineMs`. */
  readonly startMs?: number;
};

/** Default of `close`. */
const DRAIN_MS = 2000;

/**
 * Sends events to the sink of the home, and again until it has acknowledged them (architecture.md 4 "Events"). What it takes
 * goes into a bounded window, and leaves it when acknowledged; a full window is back-pressure.
 */
export class EventProducer {
  readonly counters: EventProducerCounters = {
    sent: 0,
    acknowledged: 0,
    resent: 0,
    sentBack: 0,
    withdrawn: 0,
    duplicates: 0,
    refused: 0,
    rejected: 0,
    malformed: 0,
  };

  readonly #logger: Logger;
  readonly #window = new EventWindow();
  readonly #streams = new Map<string, StreamState>();
  /** Closed streams that are not forgotten yet. */
  readonly #closing = new Set<StreamState>();
  /** The stream of this process: daemon plus a random id, counting up from 1. */
  readonly #own: StreamState;
  readonly #link: EventLink;
  #roomWaiters: Waiter[] = [];
  #progressWaiters: Waiter[] = [];
  #drained: (() => void) | undefined;
  #closed = false;

  constructor(options: EventProducerOptions) {
    this.#logger = options.logger;
    this.#own = new StreamState(`${options.daemon}:${randomUUID()}`, 0);
    this.#streams.set(this.#own.name, this.#own);
    this.#link = new EventLink(
      options.path,
      this.#window,
      this.#streams,
      this.counters,
      options.logger,
      () => {
        this.#afterProgress();
      },
      (reason) => {
        this.#withdraw(this.#window.waitingDeliveries(), (clean) => refusal(reason, clean));
      },
      options.graceMs ?? FIRST_SINK_GRACE_MS,
    );
  }

  /** Starts to connect, and goes on trying until closed. Events may be given before. */
  start(): void {
    this.#checkOpen();
    this.#link.start();
  }

  /**
   * Whether a sink is there and takes events. An HTTP handler answers 503 at once when it is not, since what it sends
   * would wait for a sink that may be away for long.
   */
  get connected(): boolean {
    return this.#link.connected;
  }

  /** Why the sink refused what it was sent last; undefined when it did not, or went away since. */
  get refusal(): string | undefined {
    return this.#link.refusal;
  }

  /** Counters and the state of the window, for `stats` of the daemon. */
  stats(): Record<string, number | boolean | string> {
    const { refusal } = this.#link;
    return {
      ...this.counters,
      pending: this.#window.size,
      window: MAX_WINDOW_EVENTS,
      connected: this.#link.connected,
      ...(refusal === undefined ? {} : { refusal }),
    };
  }

  /** Events taken and not acknowledged. */
  get pending(): number {
    return this.#window.size;
  }

  /** Room in the window, events. 0 is back-pressure: stop reading the source, answer 429 or 503. */
  get room(): number {
    return this.#window.room;
  }

  /**
   * Puts an event on the producer's own stream; false when the window is full. The cheap way: makes no promise.
   * @throws BusError `too_large`, `bad_event`, `closed`
   */
  trySend(event: BusEvent): boolean {
    return this.#offer(this.#own, event, this.#own.taken + 1, undefined);
  }

  /**
   * Resolves when the event is acknowledged. While no sink answers it waits, as long as it takes.
   * @throws BusError `busy` when the window is full, `too_large`, `bad_event`, `closed` (then it may still arrive)
   */
  send(event: BusEvent): Promise<void> {
    return this.sendAll([event]);
  }

  /**
   * As {@link send} for several events: all are taken or none, and it resolves when the last is acknowledged.
   *
   * With limits it fails soon, too, when the sink refuses what it is sent. The events are then withdrawn from the
   * window, so that they do not arrive after their sender was told that they had failed.
   *
   * @throws BusError `refused` when no event was taken, nor will be; `unconfirmed` when some may have been, because the
   * sink had them when it went away or took a part; `timeout` when they are on their way and not acknowledged in time
   */
  async sendAll(events: readonly BusEvent[], limits?: SendLimits): Promise<void> {
    this.#checkOpen();
    if (events.length === 0) return;
    if (events.length > MAX_WINDOW_EVENTS) {
      throw new BusError('too_large', `${events.length} events at once, ${MAX_WINDOW_EVENTS} is the limit`);
    }
    for (const event of events) checkEvent(event);
    if (events.length > this.#window.room) {
      this.counters.refused += events.length;
      throw this.#busy();
    }
    const refused = limits !== undefined && this.#link.resting ? this.#link.refusal : undefined;
    if (refused !== undefined) throw refusal(refused, true);
    const timers: NodeJS.Timeout[] = [];
    const delivered = new Promise<void>((resolve, reject) => {
      const delivery: Delivery = {
        resolve,
        reject,
        left: events.length,
        events: events.length,
        withdrawable: limits !== undefined,
      };
      for (const event of events) this.#push(this.#own, event, this.#own.taken + 1, delivery);
      if (limits !== undefined) timers.push(...this.#limit(delivery, limits));
    });
    try {
      await delivered;
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  #limit(delivery: Delivery, { deadlineMs, startMs = deadlineMs }: SendLimits): NodeJS.Timeout[] {
    const late = (limit: number) => (clean: boolean) =>
      clean
        ? new BusError('refused', `no sink took the events within ${limit} ms`)
        : new BusError('timeout', `events were not acknowledged within ${limit} ms; they may still arrive`);
    const withdraw = (limit: number): void => {
      this.#withdraw(new Set([delivery]), late(limit));
    };
    return [
      setTimeout(() => {
        if (!this.#window.touched(delivery)) withdraw(startMs);
      }, startMs),
      setTimeout(withdraw, deadlineMs, deadlineMs),
    ];
  }

  #withdraw(deliveries: ReadonlySet<Delivery>, failure: (clean: boolean) => BusError): void {
    if (deliveries.size === 0) return;
    const { removed, clean } = this.#window.withdraw(deliveries);
    this.counters.withdrawn += removed;
    for (const delivery of deliveries) delivery.reject(failure(clean.has(delivery)));
    this.#afterProgress();
  }

  /** Resolves when the window has room again; at once when it has. @throws BusError `closed` */
  async ready(): Promise<void> {
    this.#checkOpen();
    if (this.#window.room > 0) return;
    await new Promise<void>((resolve, reject) => {
      this.#roomWaiters.push({ resolve, reject });
    });
  }

  /** Resolves when some of what is pending has been acknowledged or given up. @throws BusError `closed` */
  async progress(): Promise<void> {
    this.#checkOpen();
    await new Promise<void>((resolve, reject) => {
      this.#progressWaiters.push({ resolve, reject });
    });
  }

  /**
   * Opens a stream with sequences of the caller's own, such as the offsets of a file.
   * @param name visible ASCII, 1 to 128 characters
   * @param from last sequence the caller knows to be acknowledged; counts when the sink does not know the stream
   * @param options `rewind`: when the sink knows less than `from`, the stream goes back there; the source must have it.
   * Nothing is to be sent before `position` has resolved then
   * @throws TypeError for a bad name or one that is open; BusError `closed`
   */
  openStream(name: string, from = 0, options: { readonly rewind?: boolean } = {}): EventStream {
    this.#checkOpen();
    if (!isStreamName(name) || !isSequence(from)) throw new TypeError(`'${name}' from ${from} is no stream`);
    let stream = this.#streams.get(name);
    if (stream?.closed === false) throw new TypeError(`stream '${name}' is open already`);
    if (stream === undefined) {
      stream = new StreamState(name, from, options.rewind === true);
      this.#streams.set(name, stream);
      this.#link.announce(stream);
    } else {
      stream.closed = false;
      this.#closing.delete(stream);
    }
    return this.#handle(stream);
  }

  /** Waits at most `drainMs` for what is unacknowledged, then gives up; sends that are pending fail with `closed`. */
  async close(drainMs = DRAIN_MS): Promise<void> {
    if (this.#window.size > 0 && this.#link.started) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, drainMs);
        this.#drained = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    if (this.#closed) return;
    this.#closed = true;
    this.#link.close();
    if (this.#window.size > 0) {
      this.#logger.warn(`${this.#window.size} events were not acknowledged when their producer was closed`);
    }
    const error = this.#closedError();
    this.#window.reject(this.#window.size, error);
    for (const waiter of [...this.#roomWaiters.splice(0), ...this.#progressWaiters.splice(0)]) waiter.reject(error);
    for (const stream of this.#streams.values()) for (const waiter of stream.waiters.splice(0)) waiter.reject(error);
  }

  #handle(stream: StreamState): EventStream {
    const offer = (event: BusEvent, sequence: number, delivery: Delivery | undefined): boolean => {
      if (stream.closed) throw new BusError('closed', `stream '${stream.name}' was closed`);
      if (!isSequence(sequence) || sequence <= stream.taken) {
        throw new RangeError(`sequence ${sequence} of stream '${stream.name}' does not follow ${stream.taken}`);
      }
      return this.#offer(stream, event, sequence, delivery);
    };
    return {
      name: stream.name,
      get acknowledged() {
        return stream.acknowledged;
      },
      position: async () => {
        this.#checkOpen();
        if (!stream.welcomed) {
          await new Promise<void>((resolve, reject) => stream.waiters.push({ resolve, reject }));
        }
        return stream.acknowledged;
      },
      trySend: (event, sequence) => offer(event, sequence, undefined),
      send: (event, sequence) =>
        new Promise<void>((resolve, reject) => {
          if (!offer(event, sequence, { resolve, reject, left: 1, events: 1, withdrawable: false })) throw this.#busy();
        }),
      close: () => {
        stream.closed = true;
        this.#closing.add(stream);
        this.#forgetClosed();
      },
    };
  }

  #offer(stream: StreamState, event: BusEvent, sequence: number, delivery: Delivery | undefined): boolean {
    this.#checkOpen();
    checkEvent(event);
    if (this.#window.room <= 0) {
      this.counters.refused += 1;
      return false;
    }
    this.#push(stream, event, sequence, delivery);
    return true;
  }

  #push(stream: StreamState, event: BusEvent, sequence: number, delivery: Delivery | undefined): void {
    this.#window.push(stream, event, sequence, delivery);
    this.#link.scheduleFlush();
  }

  #afterProgress(): void {
    if (this.#roomWaiters.length > 0 && this.#window.roomy) {
      for (const waiter of this.#roomWaiters.splice(0)) waiter.resolve();
    }
    for (const waiter of this.#progressWaiters.splice(0)) waiter.resolve();
    if (this.#closing.size > 0) this.#forgetClosed();
    if (this.#window.size === 0) this.#drained?.();
  }

  #forgetClosed(): void {
    for (const stream of this.#closing) {
      if (stream.pending > 0) continue;
      this.#closing.delete(stream);
      this.#streams.delete(stream.name);
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw this.#closedError();
  }

  #closedError(): BusError {
    return new BusError('closed', 'the event producer was closed');
  }

  #busy(): BusError {
    return new BusError('busy', `${this.#window.size} events are not acknowledged yet: try again later`);
  }
}

function refusal(reason: string, clean: boolean): BusError {
  return clean
    ? new BusError('refused', `the sink takes no events: ${reason}`)
    : new BusError('unconfirmed', `the sink takes no events (${reason}); some may have been taken before`);
}
