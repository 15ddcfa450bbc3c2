import { eventAt, type EventCursor, type EventSource, type Idempotency, type ReceivedEvent } from './bus-event.js';
import { MAX_BATCH_EVENTS, MAX_EVENT_BYTES } from './bus-limits.js';
import { checkMessage, endOfValue, MessageError } from './check-message.js';
import { readIdempotency, readPositions, type StreamPosition } from './event-cells.js';
import { isSequence } from './event-check.js';
import { decodeMessage } from './message-codec.js';
import type { SourceMemory } from './source-memory.js';

/** Number of the kind on the wire, see `event-frames.ts`. */
export const BATCH = 2;
/** Cells an event takes: stream index, sequence, receive time, source index, message, idempotency or nil. */
const CELLS = 6;

const NIL = 0xc0;
const TWO_TO_32 = 0x1_0000_0000;

/** A batch that is not what it should be but says its number, so that its producer can be told. */
export class BatchError extends MessageError {
  constructor(
    readonly number: number,
    message: string,
  ) {
    super(message);
  }
}

/** Whether bytes can only be a batch. */
export function isBatch(frame: Buffer): boolean {
  const reader = new FrameReader(frame);
  return reader.array() > 0 && frame[reader.at] === BATCH;
}

/** A batch of a producer as it came. Its events stay in its bytes: cursors read them. */
export class BatchFrame {
  readonly kind = 'batch';
  readonly number: number;
  /** Streams of the batch, with the sequence before the first event of each. */
  readonly streams: readonly StreamPosition[];
  /** Last sequence of each of these streams. */
  readonly last: readonly number[];
  /** Events that it has. */
  readonly count: number;
  readonly #frame: Buffer;
  readonly #sources: readonly EventSource[];
  readonly #eventsAt: number;

  /**
   * @param sources where events came from, as it was read before
   * @throws MessageError; BatchError when the batch has a number
   */
  constructor(frame: Buffer, sources: SourceMemory) {
    checkMessage(frame);
    const reader = new FrameReader(frame);
    const cells = reader.array();
    reader.number();
    const number = cells > 1 ? reader.number() : NaN;
    if (!isSequence(number)) throw new MessageError('batch has no number');
    this.number = number;
    this.#frame = frame;
    this.streams = cells > 2 ? readStreams(frame, reader, number) : malformed(number, 'streams');
    this.#sources = cells > 3 ? readSources(frame, reader, sources, number) : malformed(number, 'sources');
    const values = cells > 4 ? reader.array() : -1;
    if (values < 0 || values % CELLS !== 0 || values > MAX_BATCH_EVENTS * CELLS) malformed(number, 'events');
    this.count = values / CELLS;
    this.#eventsAt = reader.at;
    const cursor = this.cursor();
    while (cursor.next());
    this.last = cursor.last;
  }

  /** Bytes of the whole frame, which the events' messages share. */
  get bytes(): number {
    return this.#frame.length;
  }

  /** Reads the events in the order they were sent; those of one stream increase. */
  cursor(): FrameCursor {
    return new FrameCursor(this.#frame, this.#eventsAt, this, this.#sources);
  }

  /** The events, made for each call. */
  get events(): ReceivedEvent[] {
    const events: ReceivedEvent[] = [];
    for (const cursor = this.cursor(); cursor.next();) events.push(eventAt(cursor));
    return events;
  }
}

const NOBODY: EventSource = { queue: '', location: '', agent: undefined };

/** Reads the events of a frame. It checks them, so that the first one to do so finds what is wrong. */
export class FrameCursor implements EventCursor {
  source = NOBODY;
  stream = '';
  sequence = 0;
  receivedAt = 0;
  idempotency: Idempotency | undefined = undefined;
  readonly bytes: Buffer;
  from = 0;
  to = 0;
  /** Last sequence of every stream of the batch so far. */
  readonly last: number[];
  /** Index of the stream of the event. */
  streamIndex = 0;
  readonly #reader: FrameReader;
  readonly #batch: Pick<BatchFrame, 'number' | 'streams' | 'count'>;
  readonly #sources: readonly EventSource[];
  #index = 0;

  constructor(
    frame: Buffer,
    at: number,
    batch: Pick<BatchFrame, 'number' | 'streams' | 'count'>,
    sources: readonly EventSource[],
  ) {
    this.bytes = frame;
    this.#reader = new FrameReader(frame, at);
    this.#batch = batch;
    this.#sources = sources;
    this.last = batch.streams.map(({ position }) => position);
  }

  /** @throws BatchError for an event that is malformed, and for what comes behind it */
  next(): boolean {
    const { count, streams } = this.#batch;
    if (this.#index === count) return false;
    const reader = this.#reader;
    const streamIndex = reader.number();
    const sequence = reader.number();
    const receivedAt = reader.number();
    const sourceIndex = reader.number();
    const length = reader.byteString();
    const stream = streams[streamIndex]?.stream;
    const previous = this.last[streamIndex];
    const source = this.#sources[sourceIndex];
    const to = reader.at;
    const idempotency = reader.isNil() ? undefined : this.#readIdempotency();
    if (
      stream === undefined ||
      previous === undefined ||
      !isSequence(sequence) ||
      sequence <= previous ||
      !Number.isFinite(receivedAt) ||
      source === undefined ||
      length < 0 ||
      length > MAX_EVENT_BYTES ||
      idempotency === false
    ) {
      throw new BatchError(this.#batch.number, `event ${this.#index} of the batch is malformed`);
    }
    this.last[streamIndex] = sequence;
    this.streamIndex = streamIndex;
    this.stream = stream;
    this.sequence = sequence;
    this.receivedAt = receivedAt;
    this.source = source;
    this.idempotency = idempotency;
    this.from = to - length;
    this.to = to;
    this.#index += 1;
    return true;
  }

  #readIdempotency(): Idempotency | undefined | false {
    const { at } = this.#reader;
    return readIdempotency(decodeMessage(this.bytes.subarray(at, this.#reader.skip())));
  }
}

/** Reads values of a frame that is known to be well-formed; what is not the value that is asked for is passed over. */
class FrameReader {
  readonly #frame: Buffer;
  at: number;

  constructor(frame: Buffer, at = 0) {
    this.#frame = frame;
    this.at = at;
  }

  /** Passes over a value. @returns where it ends */
  skip(): number {
    this.at = endOfValue(this.#frame, this.at);
    return this.at;
  }

  /** Passes over nil, if it is there. */
  isNil(): boolean {
    if (this.#frame[this.at] !== NIL) return false;
    this.at += 1;
    return true;
  }

  /** A number; NaN for anything else. */
  number(): number {
    const frame = this.#frame;
    const { at } = this;
    const head = frame[at] ?? NIL;
    if (head < 0x80) {
      this.at = at + 1;
      return head;
    }
    switch (head) {
      case 0xcc: // uint8
        this.at = at + 2;
        return frame[at + 1] ?? NaN;
      case 0xcd: // uint16
        this.at = at + 3;
        return frame.readUInt16BE(at + 1);
      case 0xce: // uint32
        this.at = at + 5;
        return frame.readUInt32BE(at + 1);
      case 0xcb: // float64
        this.at = at + 9;
        return frame.readDoubleBE(at + 1);
      default:
        return this.#rareNumber(head);
    }
  }

  #rareNumber(head: number): number {
    const frame = this.#frame;
    const { at } = this;
    this.skip();
    if (head >= 0xe0) return head - 0x100;
    switch (head) {
      case 0xca: // float32
        return frame.readFloatBE(at + 1);
      case 0xcf: // uint64
        return frame.readUInt32BE(at + 1) * TWO_TO_32 + frame.readUInt32BE(at + 5);
      case 0xd0: // int8
        return frame.readInt8(at + 1);
      case 0xd1: // int16
        return frame.readInt16BE(at + 1);
      case 0xd2: // int32
        return frame.readInt32BE(at + 1);
      case 0xd3: // int64
        return frame.readInt32BE(at + 1) * TWO_TO_32 + frame.readUInt32BE(at + 5);
      default:
        return NaN;
    }
  }

  /** Passes over a byte string. @returns its length; -1 for anything else */
  byteString(): number {
    const frame = this.#frame;
    const { at } = this;
    const head = frame[at];
    if (head === 0xc4) {
      const length = frame[at + 1] ?? 0;
      this.at = at + 2 + length;
      return length;
    }
    this.skip();
    if (head === 0xc5) return frame.readUInt16BE(at + 1);
    return head === 0xc6 ? frame.readUInt32BE(at + 1) : -1;
  }

  /** Values of an array, whose first one comes next; -1 for anything else. */
  array(): number {
    const frame = this.#frame;
    const { at } = this;
    const head = frame[at] ?? NIL;
    if (head >= 0x90 && head < 0xa0) {
      this.at = at + 1;
      return head & 0x0f;
    }
    if (head === 0xdc && at + 3 <= frame.length) {
      this.at = at + 3;
      return frame.readUInt16BE(at + 1);
    }
    if (head === 0xdd && at + 5 <= frame.length) {
      this.at = at + 5;
      return frame.readUInt32BE(at + 1);
    }
    return -1;
  }
}

function readStreams(frame: Buffer, reader: FrameReader, number: number): StreamPosition[] {
  const { at } = reader;
  const streams = readPositions(decodeMessage(frame.subarray(at, reader.skip())));
  if (streams === undefined) return malformed(number, 'streams');
  // Each has one place in the batch from which its events go on.
  const names = new Set(streams.map(({ stream }) => stream));
  if (names.size < streams.length) malformed(number, 'streams');
  return streams;
}

function readSources(frame: Buffer, reader: FrameReader, memory: SourceMemory, number: number): EventSource[] {
  const count = reader.array();
  if (count < 0 || count > MAX_BATCH_EVENTS) malformed(number, 'sources');
  const sources: EventSource[] = [];
  for (let index = 0; index < count; index += 1) {
    const { at } = reader;
    sources.push(memory.read(frame, at, reader.skip()) ?? malformed(number, 'sources'));
  }
  return sources;
}

function malformed(number: number, what: string): never {
  throw new BatchError(number, `${what} of the batch are malformed`);
}
