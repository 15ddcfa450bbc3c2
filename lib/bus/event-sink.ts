import type { Logger } from '../daemon/logger.js';
import type { EventBatch } from './bus-event.js';
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
  readonly group?: number;
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
};

/** Receives the events of every producer of the home (design.md 4 "Events"). */
export class EventSink {
  readonly counters: EventSinkCounters = { acknowledged: 0, duplicates: 0, refused: 0, malformed: 0 };

  constructor(private readonly options: EventSinkOptions) {}

  /** Binds the socket. @throws BusError `in_use` or `bad_path` */
  start(): Promise<void> {
    return Promise.reject(new Error('not built yet: ' + this.options.path));
  }

  /** Takes no more batches, finishes the one under way and removes the socket. */
  stop(): Promise<void> {
    return Promise.resolve();
  }
}
