import type { BusAgent, BusEvent, Idempotency, ReceivedEvent } from './bus-event.js';
import { MAX_BATCH_EVENTS, MAX_EVENT_BYTES, MAX_HELLO_STREAMS } from './bus-limits.js';
import { MessageError } from './check-message.js';
import { isAgent, isIdempotency, isLocation, isQueue, isSequence, isStreamName } from './event-check.js';
import { decodeMessage, encodeTrusted } from './message-codec.js';

/*
 * Frames of the event stream, msgpack arrays whose first element names the kind:
 *
 *   producer to sink
 *     hello    token, [stream, from, rewind?]... opens streams; `from`: what the producer knows to be acknowledged;
 *                                             `rewind`: it can send again what is before that
 *     batch    number, [stream, previous]..., [queue, location, agent]..., cells...
 *   sink to producer
 *     welcome  token, [stream, position]...   where to go on
 *     ack      number, duplicates             the batch is safe
 *     nack     number, code, message          nothing of the batch was taken
 *
 * `previous` is the sequence before the first event of the stream in the batch. Sequences have holes, so it is what
 * shows the sink that a batch before this one is missing. Locations and agents repeat, so events name them by index.
 */

/** Numbers that stand for the kinds on the wire. */
const HELLO = 1;
const BATCH = 2;
const WELCOME = 3;
const ACK = 4;
const NACK = 5;

/** Cells an event takes: stream index, sequence, receive time, source index, message, idempotency or nil. */
const CELLS = 6;

export type StreamPosition = { readonly stream: string; readonly position: number };
/** A stream of a hello. */
export type StreamGreeting = StreamPosition & {
  /** The sink is to say how far it is even when that is less: the producer goes back there. */
  readonly rewind: boolean;
};

/**
 * Why a batch was not taken: `busy` (the sink's queue is full), `gap` (a batch before it is missing), `unknown_stream`
 * (say hello again), `failed` (it could not be kept), `malformed` (it will never be taken).
 */
export type NackCode = 'busy' | 'gap' | 'unknown_stream' | 'failed' | 'malformed';
const NACK_CODES: readonly string[] = ['busy', 'gap', 'unknown_stream', 'failed', 'malformed'] satisfies NackCode[];

export type Hello = { readonly kind: 'hello'; readonly token: number; readonly streams: readonly StreamGreeting[] };
export type BatchFrame = {
  readonly kind: 'batch';
  readonly number: number;
  /** Streams of the batch, with the sequence before the first event of each. */
  readonly streams: readonly StreamPosition[];
  /** In the order they were sent; those of one stream increase. */
  readonly events: readonly ReceivedEvent[];
  /** Bytes of the whole frame, which the events' messages share. */
  readonly bytes: number;
};
export type Welcome = { readonly kind: 'welcome'; readonly token: number; readonly streams: readonly StreamPosition[] };
export type Ack = { readonly kind: 'ack'; readonly number: number; readonly duplicates: number };
export type Nack = {
  readonly kind: 'nack';
  readonly number: number;
  readonly code: NackCode;
  readonly message: string;
};

/** A batch that is not what it should be but says its number, so that its producer can be told. */
export class BatchError extends MessageError {
  constructor(
    readonly number: number,
    message: string,
  ) {
    super(message);
  }
}

export function encodeHello(
  token: number,
  streams: readonly (StreamPosition & Partial<Pick<StreamGreeting, 'rewind'>>)[],
): Buffer {
  const cells = streams.map(({ stream, position, rewind }) =>
    rewind === true ? [stream, position, true] : [stream, position],
  );
  return encodeTrusted([HELLO, token, cells]);
}

export function encodeWelcome(token: number, streams: readonly StreamPosition[]): Buffer {
  return encodeTrusted([WELCOME, token, streams.map(({ stream, position }) => [stream, position])]);
}

export function encodeAck(number: number, duplicates: number): Buffer {
  return encodeTrusted([ACK, number, duplicates]);
}

export function encodeNack(number: number, code: NackCode, message: string): Buffer {
  return encodeTrusted([NACK, number, code, message]);
}

/** Fills one batch after the other; its tables are reused. */
export class BatchEncoder {
  readonly #streams: [string, number][] = [];
  readonly #streamIndexes = new Map<string, number>();
  readonly #sources: unknown[] = [];
  /** By queue and location; within, by agent. */
  readonly #sourceIndexes = new Map<string, Map<BusAgent | undefined, number>>();
  readonly #cells: unknown[] = [];

  /** @param previous sequence of the event before this one in its stream */
  add(stream: string, previous: number, sequence: number, event: BusEvent): void {
    let streamIndex = this.#streamIndexes.get(stream);
    if (streamIndex === undefined) {
      streamIndex = this.#streams.push([stream, previous]) - 1;
      this.#streamIndexes.set(stream, streamIndex);
    }
    const { idempotency } = event;
    this.#cells.push(
      streamIndex,
      sequence,
      event.receivedAt,
      this.#source(event),
      event.message,
      idempotency === undefined ? null : [idempotency.key, idempotency.index],
    );
  }

  #source({ queue, location, agent }: BusEvent): number {
    const key = queue + location;
    let byAgent = this.#sourceIndexes.get(key);
    if (byAgent === undefined) this.#sourceIndexes.set(key, (byAgent = new Map()));
    let index = byAgent.get(agent);
    if (index === undefined) {
      index = this.#sources.push([queue, location, agent === undefined ? null : agentCells(agent)]) - 1;
      byAgent.set(agent, index);
    }
    return index;
  }

  /** The batch, after which the encoder is empty again. */
  finish(number: number): Buffer {
    const frame = encodeTrusted([BATCH, number, this.#streams, this.#sources, this.#cells]);
    this.#streams.length = 0;
    this.#streamIndexes.clear();
    this.#sources.length = 0;
    this.#sourceIndexes.clear();
    this.#cells.length = 0;
    return frame;
  }
}

function agentCells({ id, name, ip, labels }: BusAgent): unknown[] {
  return [id, name, ip, labels === undefined ? null : [...labels].flat()];
}

/** Reads what a producer sends. @throws MessageError; BatchError for a batch that has a number */
export function decodeFromProducer(frame: Buffer): Hello | BatchFrame {
  const cells = decodeArray(frame);
  switch (cells[0]) {
    case HELLO: {
      const streams = readGreetings(cells[2]);
      if (!isSequence(cells[1]) || streams === undefined) throw new MessageError('hello is malformed');
      return { kind: 'hello', token: cells[1], streams };
    }
    case BATCH: {
      if (!isSequence(cells[1])) throw new MessageError('batch has no number');
      return readBatch(cells[1], cells, frame.length);
    }
    default:
      throw new MessageError('message is of no kind a producer sends');
  }
}

/** Reads what a sink sends. @throws MessageError */
export function decodeFromSink(frame: Buffer): Welcome | Ack | Nack {
  const [kind, number, third, message] = decodeArray(frame);
  if (!isSequence(number)) throw new MessageError('message of the sink has no number');
  switch (kind) {
    case WELCOME: {
      const streams = readPositions(third);
      if (streams === undefined) throw new MessageError('welcome is malformed');
      return { kind: 'welcome', token: number, streams };
    }
    case ACK:
      if (!isSequence(third)) throw new MessageError('acknowledgement is malformed');
      return { kind: 'ack', number, duplicates: third };
    case NACK:
      if (typeof third !== 'string' || !NACK_CODES.includes(third) || typeof message !== 'string') {
        throw new MessageError('refusal is malformed');
      }
      return { kind: 'nack', number, code: third as NackCode, message };
    default:
      throw new MessageError('message is of no kind a sink sends');
  }
}

function decodeArray(frame: Buffer): readonly unknown[] {
  const value = decodeMessage(frame);
  if (!Array.isArray(value)) throw new MessageError('message is no array');
  return value;
}

function readGreetings(value: unknown): StreamGreeting[] | undefined {
  const items = value as unknown[][];
  return readPositions(value)?.map((position, index) => ({ ...position, rewind: items[index]?.[2] === true }));
}

function readPositions(value: unknown): StreamPosition[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_HELLO_STREAMS) return undefined;
  const positions: StreamPosition[] = [];
  for (const item of value as unknown[]) {
    if (!Array.isArray(item)) return undefined;
    const [stream, position] = item as unknown[];
    if (!isStreamName(stream) || !isSequence(position)) return undefined;
    positions.push({ stream, position });
  }
  return positions;
}

type Source = { readonly queue: string; readonly location: string; readonly agent: BusAgent | undefined };

function readBatch(number: number, batch: readonly unknown[], bytes: number): BatchFrame {
  const streams = readPositions(batch[2]);
  const sources = readSources(batch[3]);
  const cells: unknown = batch[4];
  if (streams === undefined) throw new BatchError(number, 'streams of the batch are malformed');
  if (sources === undefined) throw new BatchError(number, 'sources of the batch are malformed');
  if (!Array.isArray(cells) || cells.length % CELLS !== 0 || cells.length > MAX_BATCH_EVENTS * CELLS) {
    throw new BatchError(number, 'events of the batch are malformed');
  }
  /** Last sequence of every stream so far. */
  const last = streams.map(({ position }) => position);
  const events: ReceivedEvent[] = [];
  for (let at = 0; at < cells.length; at += CELLS) {
    const streamIndex: unknown = cells[at];
    const sourceIndex: unknown = cells[at + 3];
    const sequence: unknown = cells[at + 1];
    const receivedAt: unknown = cells[at + 2];
    // Only a number may index: a text such as `length` would find something, too.
    const stream = isSequence(streamIndex) ? streams[streamIndex]?.stream : undefined;
    const previous = last[streamIndex as number];
    const source = isSequence(sourceIndex) ? sources[sourceIndex] : undefined;
    const message: unknown = cells[at + 4];
    const idempotency = readIdempotency(cells[at + 5]);
    if (
      stream === undefined ||
      previous === undefined ||
      !isSequence(sequence) ||
      sequence <= previous ||
      typeof receivedAt !== 'number' ||
      !Number.isFinite(receivedAt) ||
      source === undefined ||
      !Buffer.isBuffer(message) ||
      message.length > MAX_EVENT_BYTES ||
      idempotency === false
    ) {
      throw new BatchError(number, `event ${at / CELLS} of the batch is malformed`);
    }
    last[streamIndex as number] = sequence;
    const { queue, location, agent } = source;
    events.push({ queue, location, message, receivedAt, agent, idempotency, stream, sequence });
  }
  return { kind: 'batch', number, streams, events, bytes };
}

function readSources(value: unknown): Source[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_BATCH_EVENTS) return undefined;
  const sources: Source[] = [];
  for (const item of value as unknown[]) {
    if (!Array.isArray(item)) return undefined;
    const [queue, location, cells] = item as unknown[];
    const agent = readAgent(cells);
    if (!isQueue(queue) || !isLocation(location) || agent === false) return undefined;
    sources.push({ queue, location, agent });
  }
  return sources;
}

/** False for what is neither an agent nor nil. */
function readAgent(cells: unknown): BusAgent | undefined | false {
  if (cells === null) return undefined;
  if (!Array.isArray(cells)) return false;
  const [id, name, ip, pairs] = cells as unknown[];
  const labels = readLabels(pairs);
  if (labels === false) return false;
  const agent = { id, name, ip, labels } as BusAgent;
  return isAgent(agent) && agent;
}

function readLabels(pairs: unknown): Map<string, string> | undefined | false {
  if (pairs === null) return undefined;
  if (!Array.isArray(pairs) || pairs.length % 2 !== 0) return false;
  const labels = new Map<string, string>();
  for (let at = 0; at < pairs.length; at += 2) {
    const key: unknown = pairs[at];
    const text: unknown = pairs[at + 1];
    if (typeof key !== 'string' || typeof text !== 'string') return false;
    labels.set(key, text);
  }
  return labels;
}

function readIdempotency(cells: unknown): Idempotency | undefined | false {
  if (cells === null) return undefined;
  if (!Array.isArray(cells)) return false;
  const [key, index] = cells as unknown[];
  const idempotency = { key, index } as Idempotency;
  return isIdempotency(idempotency) && idempotency;
}
