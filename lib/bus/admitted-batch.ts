import type { BatchFrame, FrameCursor } from './batch-frame.js';
import { eventAt, type EventBatch, type EventCursor, type ReceivedEvent } from './bus-event.js';

/** A producer's batch that was admitted, without the events that were duplicates. */
export class AdmittedBatch {
  /** Events of it that are new, and those that are not. */
  readonly count: number;
  readonly duplicates: number;
  /** Last sequence of every stream of which it has new events. */
  readonly positions: readonly (readonly [string, number])[];
  readonly #frame: BatchFrame;
  /** Sequence after which the events of each of its streams are new. */
  readonly #reached: readonly number[];

  /** @param reached what was admitted before of each of its streams */
  constructor(frame: BatchFrame, reached: readonly number[]) {
    this.#frame = frame;
    this.#reached = reached;
    this.positions = frame.streams.flatMap(({ stream }, index) => {
      const last = frame.last[index] ?? 0;
      return last > (reached[index] ?? 0) ? [[stream, last] as const] : [];
    });
    const isWhole = frame.streams.every(({ position }, index) => position === reached[index]);
    this.duplicates = isWhole ? 0 : this.#countDuplicates();
    this.count = frame.count - this.duplicates;
  }

  /** Bytes of the whole frame. */
  get bytes(): number {
    return this.#frame.bytes;
  }

  /** Reads the events that are new. */
  cursor(): EventCursor {
    const cursor = this.#frame.cursor();
    return this.duplicates === 0 ? cursor : new NewEvents(cursor, this.#reached);
  }

  #countDuplicates(): number {
    let duplicates = 0;
    for (const cursor = this.#frame.cursor(); cursor.next();) if (isDuplicate(cursor, this.#reached)) duplicates += 1;
    return duplicates;
  }
}

/** The new events of a batch that has others, too. */
class NewEvents implements EventCursor {
  readonly #cursor: FrameCursor;
  readonly #reached: readonly number[];

  constructor(cursor: FrameCursor, reached: readonly number[]) {
    this.#cursor = cursor;
    this.#reached = reached;
  }

  next(): boolean {
    while (this.#cursor.next()) if (!isDuplicate(this.#cursor, this.#reached)) return true;
    return false;
  }

  get source() {
    return this.#cursor.source;
  }

  get stream() {
    return this.#cursor.stream;
  }

  get sequence() {
    return this.#cursor.sequence;
  }

  get receivedAt() {
    return this.#cursor.receivedAt;
  }

  get idempotency() {
    return this.#cursor.idempotency;
  }

  get bytes() {
    return this.#cursor.bytes;
  }

  get from() {
    return this.#cursor.from;
  }

  get to() {
    return this.#cursor.to;
  }
}

function isDuplicate({ sequence, streamIndex }: FrameCursor, reached: readonly number[]): boolean {
  return sequence <= (reached[streamIndex] ?? 0);
}

/** Batches of producers that are handed on together. */
export class AdmittedGroup implements EventBatch {
  readonly count: number;
  readonly bytes: number;
  readonly positions: ReadonlyMap<string, number>;
  readonly #batches: readonly AdmittedBatch[];
  #events: readonly ReceivedEvent[] | undefined;

  constructor(batches: readonly AdmittedBatch[]) {
    this.#batches = batches;
    this.count = batches.reduce((sum, { count }) => sum + count, 0);
    this.bytes = batches.reduce((sum, { bytes }) => sum + bytes, 0);
    this.positions = new Map(batches.flatMap(({ positions }) => positions));
  }

  cursors(): readonly EventCursor[] {
    return this.#batches.map((batch) => batch.cursor());
  }

  get events(): readonly ReceivedEvent[] {
    if (this.#events !== undefined) return this.#events;
    const events: ReceivedEvent[] = [];
    for (const cursor of this.cursors()) while (cursor.next()) events.push(eventAt(cursor));
    this.#events = events;
    return events;
  }
}
