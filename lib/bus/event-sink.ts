import type { LimitedLogger, Logger } from '../log/logger.js';
import { AdmittedBatch, AdmittedGroup } from './admitted-batch.js';
import { BatchError, type BatchFrame } from './batch-frame.js';
import type { EventBatch } from './bus-event.js';
import { MAX_GROUP_BYTES, MAX_GROUP_EVENTS, MAX_SINK_BYTES, MAX_SINK_EVENTS } from './bus-limits.js';
import { BusListener } from './bus-listener.js';
import type { StreamPosition } from './event-cells.js';
import { decodeFromProducer, encodeAck, encodeNack, encodeWelcome, type Hello, type NackCode } from './event-frames.js';
import { SourceMemory } from './source-memory.js';
import type { StreamPositions } from './stream-positions.js';

export type EventSinkOptions = {
  /** Socket path, `home.eventsSocket()`. */
  readonly path: string;
  /**
   * Takes a batch; it is acknowledged when this resolves. Called for one batch at a time, which holds everything that
   * arrived meanwhile. When it rejects nothing of the batch counts as accepted, and its producers send it again later.
   */
  readonly onBatch: (batch: EventBatch) => Promise<void>;
  readonly positions: StreamPositions;
  readonly logger: Logger;
  /** Group id the socket gets; without it the group stays that of the process. */
  readonly group?: number;
  /** Most events of a batch handed to `onBatch`; default `MAX_GROUP_EVENTS`. One producer's batch is never split. */
  readonly maxGroupEvents?: number;
};

export type EventSinkCounters = {
  /** Events handed on and acknowledged. */
  acknowledged: number;
  /** Events dropped because their stream was already past them. */
  duplicates: number;
  /** Batches sent back: full queue, gap, or a failed `onBatch`. */
  refused: number;
  /** Frames that are nothing of the protocol. */
  malformed: number;
  /** Answers given up because the producer went away; it is told on its next connection. */
  undelivered: number;
};

/** A producer's batch that waits to be handed on. */
type Waiting = { readonly peer: Buffer; readonly number: number; readonly batch: AdmittedBatch };

/**
 * Receives the events of every producer of the home (architecture.md 4 "Events").
 *
 * A batch is admitted when it follows, stream by stream, on what was admitted before; what is older is a duplicate. The
 * admitted wait in one queue, are handed on in groups, one group at a time, and only then do the streams' positions
 * move. When a group fails everything behind it is sent back too, since it would leave a hole.
 */
export class EventSink {
  readonly counters: EventSinkCounters = {
    acknowledged: 0,
    duplicates: 0,
    refused: 0,
    malformed: 0,
    undelivered: 0,
  };

  readonly #listener: BusListener;
  readonly #onBatch: (batch: EventBatch) => Promise<void>;
  readonly #positions: StreamPositions;
  readonly #maxGroupEvents: number;
  readonly #malformedLog: LimitedLogger;
  readonly #failureLog: LimitedLogger;
  readonly #logger: Logger;
  /** The last group was not taken. */
  #failing = false;
  #queue: Waiting[] = [];
  #queuedEvents = 0;
  #queuedBytes = 0;
  /** Last admitted sequence of the streams that are ahead of their position. */
  readonly #admitted = new Map<string, number>();
  readonly #sources = new SourceMemory();
  #handingOn: Promise<void> | undefined;
  #stopping = false;

  constructor(options: EventSinkOptions) {
    this.#onBatch = options.onBatch;
    this.#positions = options.positions;
    this.#maxGroupEvents = options.maxGroupEvents ?? MAX_GROUP_EVENTS;
    this.#logger = options.logger;
    this.#malformedLog = options.logger.limited();
    this.#failureLog = options.logger.limited();
    this.#listener = new BusListener(options.path, options.group, {
      onMessage: (peer, frame) => {
        this.#receive(peer, frame);
      },
      onMalformed: () => {
        this.#malformed('it has more than one frame');
      },
    });
  }

  /** Events that wait to be handed on. */
  get waiting(): number {
    return this.#queuedEvents;
  }

  /** Binds the socket. @throws BusError `in_use` or `bad_path` */
  start(): Promise<void> {
    return this.#listener.start();
  }

  /** Takes no more batches, finishes the one that is being handed on, and gives the socket up. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#handingOn;
    this.#listener.close();
  }

  #receive(peer: Buffer, frame: Buffer): void {
    if (this.#stopping) return;
    try {
      const message = decodeFromProducer(frame, this.#sources);
      if (message.kind === 'hello') this.#welcome(peer, message);
      else this.#admit(peer, message);
    } catch (error) {
      this.#malformed(error instanceof Error ? error.message : String(error));
      if (error instanceof BatchError) this.#send(peer, encodeNack(error.number, 'malformed', error.message));
    }
  }

  /**
   * Tells where to go on. What is admitted but not yet safe is not counted: a producer forgets what it is told.
   * A producer that knows more than the sink is right when it cannot go back: it has forgotten what was acknowledged to
   * it. One that can go back is told the truth: what it knows more of was lost here, with the power perhaps.
   */
  #welcome(peer: Buffer, { token, streams }: Hello): void {
    const answer: StreamPosition[] = [];
    for (const { stream, position: from, rewind } of streams) {
      const known = this.#positions.get(stream);
      if (rewind && known !== undefined) {
        answer.push({ stream, position: known });
        continue;
      }
      if (known === undefined || known < from) this.#positions.set(stream, from);
      const admitted = this.#admitted.get(stream);
      if (admitted !== undefined && admitted < from) this.#admitted.set(stream, from);
      answer.push({ stream, position: Math.max(known ?? from, from) });
    }
    this.#send(peer, encodeWelcome(token, answer));
  }

  #admit(peer: Buffer, frame: BatchFrame): void {
    const { number } = frame;
    if (this.#queuedEvents >= MAX_SINK_EVENTS || this.#queuedBytes >= MAX_SINK_BYTES) {
      this.#refuse(peer, number, 'busy', `${this.#queuedEvents} events are waiting`);
      return;
    }
    // All streams are looked at before anything changes: a batch is admitted whole or not at all.
    const reached: number[] = [];
    for (const { stream, position: previous } of frame.streams) {
      const position = this.#reached(stream);
      if (position === undefined) {
        this.#refuse(peer, number, 'unknown_stream', stream);
        return;
      }
      if (previous > position) {
        this.#refuse(peer, number, 'gap', `${stream} is at ${position}, not ${previous}`);
        return;
      }
      reached.push(position);
    }
    const batch = new AdmittedBatch(frame, reached);
    for (const [stream, sequence] of batch.positions) this.#admitted.set(stream, sequence);
    this.counters.duplicates += batch.duplicates;
    // A batch of duplicates only waits too: what it repeats may not be safe yet.
    this.#queue.push({ peer, number, batch });
    this.#queuedEvents += batch.count;
    this.#queuedBytes += batch.bytes;
    this.#handingOn ??= this.#handOn();
  }

  #reached(stream: string): number | undefined {
    return this.#admitted.get(stream) ?? this.#positions.get(stream);
  }

  async #handOn(): Promise<void> {
    while (this.#queue.length > 0 && !this.#stopping) {
      // One turn of the event loop for each group: what has arrived by then goes along, and timers get their turn.
      await new Promise(setImmediate);
      const waiting = this.#takeGroup();
      const group = new AdmittedGroup(waiting.map(({ batch }) => batch));
      try {
        if (group.count > 0) await this.#onBatch(group);
      } catch (error) {
        this.#sendBack(waiting, error);
        continue;
      }
      if (this.#failing && group.count > 0) {
        this.#failing = false;
        this.#logger.info('Events are taken again');
      }
      this.counters.acknowledged += group.count;
      for (const [stream, sequence] of group.positions) this.#move(stream, sequence);
      for (const { peer, number, batch } of waiting) this.#send(peer, encodeAck(number, batch.duplicates));
    }
    this.#handingOn = undefined;
  }

  #takeGroup(): Waiting[] {
    let taken = 0;
    let events = 0;
    let bytes = 0;
    for (const { batch } of this.#queue) {
      const isTooMuch = events + batch.count > this.#maxGroupEvents || bytes + batch.bytes > MAX_GROUP_BYTES;
      if (taken > 0 && isTooMuch) break;
      taken += 1;
      events += batch.count;
      bytes += batch.bytes;
    }
    this.#queuedBytes -= bytes;
    this.#queuedEvents -= events;
    return this.#queue.splice(0, taken);
  }

  #move(stream: string, sequence: number): void {
    // A hello may have moved it further meanwhile.
    this.#positions.set(stream, Math.max(sequence, this.#positions.get(stream) ?? 0));
    if (this.#admitted.get(stream) === sequence) this.#admitted.delete(stream);
  }

  #sendBack(group: readonly Waiting[], error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#failing = true;
    this.#failureLog.error(`Events cannot be taken: ${reason}. Their producers keep them and try again`);
    const behind = this.#queue;
    this.#queue = [];
    this.#queuedEvents = 0;
    this.#queuedBytes = 0;
    this.#admitted.clear();
    for (const { peer, number } of [...group, ...behind]) this.#refuse(peer, number, 'failed', reason);
  }

  #refuse(peer: Buffer, number: number, code: NackCode, message: string): void {
    this.counters.refused += 1;
    this.#send(peer, encodeNack(number, code, message));
  }

  #send(peer: Buffer, frame: Buffer): void {
    void this.#listener.send(peer, frame).then((taken) => {
      if (!taken) this.counters.undelivered += 1;
    });
  }

  #malformed(reason: string): void {
    this.counters.malformed += 1;
    this.#malformedLog.warn(`Event socket: message dropped: ${reason}`);
  }
}
