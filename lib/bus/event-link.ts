import type { Logger } from '../log/logger.js';
import { BusConnection } from './bus-connection.js';
import { BusError } from './bus-error.js';
import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS, MAX_BATCHES_IN_FLIGHT, MAX_HELLO_STREAMS } from './bus-limits.js';
import { BatchEncoder, decodeFromSink, encodeHello, type Nack, type Welcome } from './event-frames.js';
import type { StreamState } from './event-stream.js';
import type { EventWindow } from './event-window.js';

export type EventLinkCounters = {
  /** Events put on the socket for the first time. */
  sent: number;
  acknowledged: number;
  /** Events put on the socket again after a reconnect or a refusal. */
  resent: number;
  /** Events the sink sent back: it was full, or could not keep them. They go again after a pause. */
  sentBack: number;
  /** Events that were taken back by their sender before they went again. */
  withdrawn: number;
  /** Events the sink said it already had. */
  duplicates: number;
  /** Events the sink will never take; each batch of them is logged. */
  rejected: number;
  /** Frames of the sink that are nothing of the protocol. */
  malformed: number;
};

/** A batch on the wire. */
type InFlight = { readonly number: number; readonly events: number };

/** Small batches go out at once up to this many; then events gather until a batch is full or one is acknowledged. */
const EAGER_BATCHES = 2;

/** Pauses before another try, doubled each time: to reach a sink, and to send again what it refused. */
const FIRST_PAUSE_MS = 10;
const MAX_RECONNECT_PAUSE_MS = 500;
const MAX_RESEND_PAUSE_MS = 1000;

/**
 * Brings what is in a producer's window to the sink. On each connection it says hello with its streams, learns how far
 * the sink is, drops what the sink has and sends the rest. A refused batch starts the same over after a pause.
 */
export class EventLink {
  readonly #encoder = new BatchEncoder();
  #connection: BusConnection | undefined;
  #state: 'stopped' | 'connecting' | 'greeting' | 'up' | 'pausing' | 'closed' = 'stopped';
  /** Of the latest greeting; a welcome to an earlier one is out of date. */
  #token = 0;
  /** Welcomes of the latest greeting that are still to come. */
  #welcomesDue = 0;
  /** Streams the sink has not heard of on this connection. */
  #unannounced: StreamState[] = [];
  #inFlight: InFlight[] = [];
  #nextBatch = 0;
  #flushScheduled = false;
  #reconnectPauseMs = FIRST_PAUSE_MS;
  #resendPauseMs = FIRST_PAUSE_MS;
  #timer: NodeJS.Timeout | undefined;
  #outageLogged = false;
  /** When an outage is told: while a home starts, its sink may come long after its producers. */
  #graceEnd = 0;
  #refusal: string | undefined;

  /**
   * @param onProgress called whenever events have left the window
   * @param onRefusal called when the sink has refused events, which are off the wire by then
   * @param graceMs how long after `start` a sink that has not been there yet is no outage
   */
  constructor(
    private readonly path: string,
    private readonly window: EventWindow,
    private readonly streams: ReadonlyMap<string, StreamState>,
    private readonly counters: EventLinkCounters,
    private readonly logger: Logger,
    private readonly onProgress: () => void,
    private readonly onRefusal: (reason: string) => void,
    private readonly graceMs: number,
  ) {}

  /** Starts to connect, and goes on trying until closed. */
  start(): void {
    if (this.#state !== 'stopped') return;
    this.#graceEnd = performance.now() + this.graceMs;
    void this.#connect();
  }

  get started(): boolean {
    return this.#state !== 'stopped' && this.#state !== 'closed';
  }

  /** Whether the sink has answered on the present connection, and does not refuse what it is sent. */
  get connected(): boolean {
    const answered = this.#state === 'up' || this.#state === 'pausing';
    return this.#connection !== undefined && answered && this.#refusal === undefined;
  }

  /** Why the sink refused what it was sent, until it has acknowledged something. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Whether nothing is sent for a while. What is sent next asks the sink whether it takes events again. */
  get resting(): boolean {
    return this.#state === 'pausing';
  }

  /** Tells the sink of a new stream with the next flush. */
  announce(stream: StreamState): void {
    this.#unannounced.push(stream);
    this.scheduleFlush();
  }

  /** What came into the window during one turn of the event loop goes out together. */
  scheduleFlush(): void {
    if (this.#flushScheduled || this.#state !== 'up') return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  close(): void {
    this.#state = 'closed';
    clearTimeout(this.#timer);
    this.#connection?.close();
  }

  async #connect(): Promise<void> {
    this.#state = 'connecting';
    let connection: BusConnection | undefined;
    try {
      connection = await BusConnection.open(this.path, {
        onMessage: (frame) => {
          if (connection === this.#connection) this.#receive(frame);
        },
        onMalformed: () => {
          this.counters.malformed += 1;
        },
        onLost: () => {
          if (connection === this.#connection) this.#lost();
        },
      });
    } catch (error) {
      if (!this.started) return;
      this.#logOutage(error);
      this.#timer = setTimeout(() => void this.#connect(), this.#reconnectPauseMs);
      this.#reconnectPauseMs = Math.min(2 * this.#reconnectPauseMs, MAX_RECONNECT_PAUSE_MS);
      return;
    }
    if (!this.started) {
      connection.close();
      return;
    }
    this.#connection = connection;
    this.#greetAll(connection);
  }

  #logOutage(error: unknown): void {
    if (this.#outageLogged || performance.now() < this.#graceEnd) return;
    this.#outageLogged = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.logger.warn(`Events cannot be delivered: ${reason}. Trying again until they can`);
  }

  #lost(): void {
    this.#connection = undefined;
    this.#refusal = undefined;
    clearTimeout(this.#timer);
    if (this.started) void this.#connect();
  }

  /** Starts over on a connection: nothing counts as sent until the sink has said how far it is. */
  #greetAll(connection: BusConnection): void {
    this.#state = 'greeting';
    this.counters.withdrawn += this.window.rewind();
    this.#inFlight = [];
    this.#unannounced = [];
    this.#token += 1;
    const streams = [...this.streams.values()];
    this.#welcomesDue = Math.ceil(streams.length / MAX_HELLO_STREAMS);
    this.#greet(connection, streams);
  }

  #greet(connection: BusConnection, streams: readonly StreamState[]): void {
    for (let at = 0; at < streams.length; at += MAX_HELLO_STREAMS) {
      const part = streams.slice(at, at + MAX_HELLO_STREAMS);
      const positions = part.map(({ name, acknowledged, rewindable }) => ({
        stream: name,
        position: acknowledged,
        rewind: rewindable,
      }));
      this.#send(connection, encodeHello(this.#token, positions));
    }
  }

  #send(connection: BusConnection, frame: Buffer): void {
    void connection.send(frame).then((taken) => {
      // Not taken on a connection that is there: the sink does not read, and libzmq's queue is full.
      if (!taken && connection.open && connection === this.#connection) this.#pause();
    });
  }

  #flush(): void {
    const connection = this.#connection;
    if (this.#state !== 'up' || connection === undefined) return;
    if (this.#unannounced.length > 0) this.#greet(connection, this.#unannounced.splice(0));
    while (this.window.unsent > 0 && this.#inFlight.length < MAX_BATCHES_IN_FLIGHT) {
      if (this.#inFlight.length >= EAGER_BATCHES && this.window.unsent < MAX_BATCH_EVENTS) return;
      this.#sendBatch(connection);
    }
  }

  #sendBatch(connection: BusConnection): void {
    const number = this.#nextBatch++;
    let events = 0;
    let bytes = 0;
    let again = 0;
    while (events < MAX_BATCH_EVENTS && bytes < MAX_BATCH_BYTES) {
      const entry = this.window.nextUnsent();
      if (entry === undefined) break;
      const { stream, sequence, event } = entry;
      // The sink may have told a position beyond what its reader reads again: such events are duplicates to it.
      this.#encoder.add(stream.name, Math.min(stream.sent, sequence - 1), sequence, event);
      stream.sent = Math.max(stream.sent, sequence);
      if (this.window.sent < this.window.everSent) again += 1;
      this.window.sent += 1;
      events += 1;
      bytes += event.message.length;
    }
    this.counters.resent += again;
    this.counters.sent += events - again;
    this.#inFlight.push({ number, events });
    this.#send(connection, this.#encoder.finish(number));
  }

  #receive(frame: Buffer): void {
    try {
      const message = decodeFromSink(frame);
      if (message.kind === 'welcome') this.#welcomed(message);
      else if (message.kind === 'ack') this.#acknowledged(message.number, message.duplicates);
      else this.#refused(message);
    } catch {
      this.counters.malformed += 1;
    }
  }

  #welcomed({ token, streams }: Welcome): void {
    if (token !== this.#token) return;
    for (const { stream: name, position } of streams) {
      const stream = this.streams.get(name);
      if (stream === undefined) continue;
      if (!stream.moveTo(position)) {
        // Its events are on their way already: the sink is asked again, to believe them.
        stream.rewindable = false;
        this.announce(stream);
        continue;
      }
      stream.welcomed = true;
      for (const waiter of stream.waiters.splice(0)) waiter.resolve();
    }
    if (this.#state !== 'greeting' || --this.#welcomesDue > 0) return;
    const known = this.window.settleAcknowledged();
    this.counters.acknowledged += known;
    this.counters.duplicates += known;
    for (const stream of this.streams.values()) stream.sent = stream.acknowledged;
    this.#state = 'up';
    this.#graceEnd = 0;
    this.#reconnectPauseMs = FIRST_PAUSE_MS;
    if (this.#outageLogged) {
      this.#outageLogged = false;
      this.logger.info(`Events are delivered again; ${this.window.size} are waiting`);
    }
    this.onProgress();
    this.#flush();
  }

  #acknowledged(number: number, duplicates: number): void {
    const index = this.#inFlight.findIndex((batch) => batch.number === number);
    const batch = this.#inFlight[index];
    if (batch === undefined) return;
    if (index > 0) {
      // The answer to one before it got lost: the sink knows how far it is.
      this.#pause();
      return;
    }
    this.#inFlight.shift();
    this.window.acknowledge(batch.events);
    this.counters.acknowledged += batch.events;
    this.counters.duplicates += duplicates;
    this.#resendPauseMs = FIRST_PAUSE_MS;
    this.#refusal = undefined;
    this.onProgress();
    this.#flush();
  }

  /** What is refused, and all behind it, goes again after a pause; what is before it may be acknowledged meanwhile. */
  #refused({ number, code, message }: Nack): void {
    const index = this.#inFlight.findIndex((batch) => batch.number === number);
    const batch = this.#inFlight[index];
    if (batch === undefined) return;
    if (code === 'malformed' && index === 0) {
      this.logger.error(`${batch.events} events were refused and are lost: ${message}`);
      this.counters.rejected += batch.events;
      this.window.reject(batch.events, new BusError('rejected', `the event was refused: ${message}`));
      this.onProgress();
    }
    const before = this.#inFlight.slice(0, index).reduce((sum, { events }) => sum + events, 0);
    const behind = this.#inFlight.slice(index).reduce((sum, { events }) => sum + events, 0);
    this.#inFlight.length = index;
    this.#pause();
    if (code !== 'busy' && code !== 'failed') return;
    this.window.refuse(before, batch.events);
    this.counters.sentBack += behind;
    this.#refusal = message;
    this.onRefusal(message);
  }

  #pause(): void {
    if (this.#state !== 'up' && this.#state !== 'greeting') return;
    this.#state = 'pausing';
    this.#timer = setTimeout(() => {
      const connection = this.#connection;
      if (this.#state === 'pausing' && connection !== undefined) this.#greetAll(connection);
    }, this.#resendPauseMs);
    this.#resendPauseMs = Math.min(2 * this.#resendPauseMs, MAX_RESEND_PAUSE_MS);
  }
}
