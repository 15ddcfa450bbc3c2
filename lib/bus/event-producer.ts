import type { Logger } from '../daemon/logger.js';
import type { BusEvent } from './bus-event.js';

export type EventProducerOptions = {
  /** Socket path, `home.eventsSocket()`. */
  readonly path: string;
  /** Who produces: the first part of the name of the producer's own stream. */
  readonly daemon: string;
  readonly logger: Logger;
};

export type EventProducerCounters = {
  /** Events put on the socket for the first time. */
  sent: number;
  acknowledged: number;
  /** Events put on the socket again after a reconnect or a refusal. */
  resent: number;
  /** Events the sink said it already had. */
  duplicates: number;
  /** Events not taken because the window was full. */
  refused: number;
  /** Frames of the sink that are nothing of the protocol. */
  malformed: number;
};

/** A source whose sequences mean something outside this process, such as offsets in a followed file. */
export interface EventStream {
  /** `device:inode:generation` for a followed file. */
  readonly name: string;
  /**
   * Where to go on: the last sequence the sink has accepted, or the `from` given when it opened if the sink knows less.
   * Resolves when a sink has answered; rejects only with `closed`.
   */
  position(): Promise<number>;
  /** Last sequence that is acknowledged: the place it is safe to forget up to. */
  readonly acknowledged: number;
  /** As `EventProducer.trySend`; sequences must increase, not by one. */
  trySend(event: BusEvent, sequence: number): boolean;
  /** As `EventProducer.send`. */
  send(event: BusEvent, sequence: number): Promise<void>;
  /** Forgets the stream once everything is acknowledged; takes no more events. */
  close(): void;
}

/** Sends events to the sink of the home, and again until it has acknowledged them (design.md 4 "Events"). */
export class EventProducer {
  readonly counters: EventProducerCounters = {
    sent: 0,
    acknowledged: 0,
    resent: 0,
    duplicates: 0,
    refused: 0,
    malformed: 0,
  };

  constructor(private readonly options: EventProducerOptions) {}

  /** Whether the sink has answered on the present connection: without it an HTTP handler answers 503 at once. */
  get connected(): boolean {
    return this.counters.sent < 0;
  }

  /** Room in the window, events. 0 is back-pressure: stop reading the source, answer 429 or 503. */
  get room(): number {
    return this.counters.sent;
  }

  /** Puts an event on the producer's own stream; false when the window is full. The cheap way: makes no promise. */
  trySend(_event: BusEvent): boolean {
    return false;
  }

  /** Resolves when the event is acknowledged. @throws BusError `busy` when the window is full, `closed`, `too_large` */
  send(event: BusEvent): Promise<void> {
    return this.sendAll([event]);
  }

  /** As {@link send} for several events: all are taken or none, and it resolves when the last is acknowledged. */
  sendAll(_events: readonly BusEvent[]): Promise<void> {
    return Promise.reject(new Error('not built yet: ' + this.options.path));
  }

  /** Resolves when the window has room again; at once when it has. Rejects with `closed`. */
  ready(): Promise<void> {
    return Promise.reject(new Error('not built yet'));
  }

  /**
   * Opens a stream with sequences of the caller's own.
   * @param from where the caller thinks it is; used when the sink does not remember the stream. Default 0
   */
  openStream(_name: string, _from?: number): EventStream {
    throw new Error('not built yet');
  }

  /** Starts to connect, and goes on trying until closed. */
  start(): void {}

  /** Waits at most `drainMs` for what is unacknowledged, then gives up; sends that are pending fail with `closed`. */
  close(_drainMs?: number): Promise<void> {
    return Promise.resolve();
  }
}
