import { BATCH, BatchFrame, isBatch } from './batch-frame.js';
import type { BusAgent, BusEvent } from './bus-event.js';
import { MessageError } from './check-message.js';
import { readPositions, type StreamPosition } from './event-cells.js';
import { isSequence } from './event-check.js';
import { decodeMessage, encodeTrusted } from './message-codec.js';
import type { SourceMemory } from './source-memory.js';

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
const WELCOME = 3;
const ACK = 4;
const NACK = 5;

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
export type Welcome = { readonly kind: 'welcome'; readonly token: number; readonly streams: readonly StreamPosition[] };
export type Ack = { readonly kind: 'ack'; readonly number: number; readonly duplicates: number };
export type Nack = {
  readonly kind: 'nack';
  readonly number: number;
  readonly code: NackCode;
  readonly message: string;
};

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

/**
 * Reads what a producer sends.
 * @param sources where events came from, as it was read before
 * @throws MessageError; BatchError for a batch that has a number
 */
export function decodeFromProducer(frame: Buffer, sources: SourceMemory): Hello | BatchFrame {
  if (isBatch(frame)) return new BatchFrame(frame, sources);
  const [kind, token, greetings] = decodeArray(frame);
  if (kind !== HELLO) throw new MessageError('message is of no kind a producer sends');
  const streams = readGreetings(greetings);
  if (!isSequence(token) || streams === undefined) throw new MessageError('hello is malformed');
  return { kind: 'hello', token, streams };
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
