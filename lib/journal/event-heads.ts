import type { BusAgent, EventSource, Idempotency } from '../bus/bus-event.js';
import { ByteReader } from './byte-reader.js';
import {
  ABSOLUTE_SEQUENCE,
  EventBatchError,
  FLOAT_TIME,
  IDEMPOTENCY,
  NEXT_SEQUENCE,
  readAgentText,
  SAME_ORIGIN,
  SAME_TIME,
  VERSION,
} from './event-batch.js';

/** What of a head says whether its event is new. */
export type EventHead = {
  stream: string;
  sequence: number;
  /** Epoch milliseconds. */
  receivedAt: number;
  idempotency: Idempotency | undefined;
};

const FIRST_EVENTS = 512;
/** How a text of one byte begins. */
const ONE_CHARACTER = 2;
/** How one begins at least whose length has two bytes and more. */
const LONG_TEXT = 0x80;

/**
 * The heads of the events of one batch (`event-batch.ts`), by their place in it: what is needed to hand the events on without
 * looking at their texts. Nothing is made for an event, and the memory is used again for the next batch.
 */
export class EventHeads {
  /** Events of the batch. */
  count = 0;
  /** When each was received, epoch milliseconds. */
  times = new Float64Array(FIRST_EVENTS);
  sequences = new Float64Array(FIRST_EVENTS);
  /** Which stream of the batch each belongs to, and which source. */
  streams = new Uint32Array(FIRST_EVENTS);
  sources = new Uint32Array(FIRST_EVENTS);
  /** Where each message lies in the payload, and its bytes. */
  messageAt = new Uint32Array(FIRST_EVENTS);
  messageBytes = new Uint32Array(FIRST_EVENTS);
  readonly streamNames: string[] = [];
  /** Where each source lies in the payload, for `readEventSource`. */
  readonly sourceAt: number[] = [];
  /** Where its queue and location end. */
  readonly sourceEnd: number[] = [];
  /** Code of the one character of its queue; 0 for anything else. */
  readonly queues: number[] = [];
  /** Where the id of its agent lies, with what is said of it; 0 for none. */
  readonly agentAt: number[] = [];
  /** Where that ends; 0 for none. */
  readonly agentEnd: number[] = [];
  /** Where each agent lies, and ends. */
  readonly #agents: number[] = [];
  readonly #agentEnds: number[] = [];
  readonly #last: number[] = [];
  readonly #keys = new Map<number, Idempotency>();
  /** All of these that grow with streams, sources and agents. */
  readonly #lists: readonly unknown[][] = [
    this.streamNames,
    this.sourceAt,
    this.sourceEnd,
    this.queues,
    this.agentAt,
    this.agentEnd,
    this.#agents,
    this.#agentEnds,
    this.#last,
  ];

  /** Reads the heads of a batch. @throws EventBatchError for anything that `encodeEventBatch` has not made */
  read(payload: Buffer): this {
    try {
      this.#read(new ByteReader(payload), payload);
      return this;
    } catch (error) {
      if (error instanceof RangeError) throw new EventBatchError(`batch of events is damaged: ${error.message}`);
      throw error;
    }
  }

  /** Id of the agent of a source; undefined for none. @param payload that was read */
  agentIdOf(payload: Buffer, source: number): string | undefined {
    const at = this.agentAt[source] ?? 0;
    return at === 0 ? undefined : new ByteReader(payload, at).text();
  }

  /**
   * Bytes of that id, when it is a short text of one byte a character: it lies behind one byte, at `agentAt`. Undefined for
   * any other, or none.
   */
  agentIdBytes(payload: Buffer, source: number): number | undefined {
    const at = this.agentAt[source] ?? 0;
    const head = payload[at] ?? 0;
    return at === 0 || head >= LONG_TEXT || head % 2 !== 0 ? undefined : head / 2;
  }

  /** Location of a source. @param payload that was read */
  locationOf(payload: Buffer, source: number): string {
    const input = new ByteReader(payload, this.sourceAt[source] ?? 0);
    input.skipText();
    return input.text();
  }

  /** Puts what an event has into `head`. */
  put(index: number, head: EventHead): void {
    head.stream = this.streamNames[this.streams[index] ?? 0] ?? '';
    head.sequence = this.sequences[index] ?? 0;
    head.receivedAt = this.times[index] ?? 0;
    head.idempotency = this.#keys.size === 0 ? undefined : this.#keys.get(index);
  }

  #read(input: ByteReader, payload: Buffer): void {
    const version = input.byte();
    if (version !== VERSION) throw new EventBatchError(`batch of events has version ${version}, ${VERSION} is known`);
    const count = input.varint();
    this.#begin();
    let stream = -1;
    let source = -1;
    let time = 0;
    for (let number = 0; number < count; number += 1) {
      if (number === this.times.length) this.#grow();
      const flags = input.byte();
      if ((flags & SAME_ORIGIN) === 0) {
        stream = this.#readStream(input);
        source = this.#readSource(input, payload);
      }
      if (source < 0) throw new RangeError('the first event has no origin');
      const last = this.#last[stream] ?? 0;
      let sequence: number;
      if ((flags & NEXT_SEQUENCE) !== 0) sequence = last + 1;
      else sequence = (flags & ABSOLUTE_SEQUENCE) !== 0 ? input.varint() : last + input.varint();
      this.#last[stream] = sequence;
      if ((flags & FLOAT_TIME) !== 0) time = input.float();
      else if ((flags & SAME_TIME) === 0) time += input.varint();
      if ((flags & IDEMPOTENCY) !== 0) this.#keys.set(number, { key: input.text(), index: input.varint() });
      const length = input.varint();
      this.streams[number] = stream;
      this.sources[number] = source;
      this.sequences[number] = sequence;
      this.times[number] = time;
      this.messageAt[number] = input.at;
      this.messageBytes[number] = length;
      input.skip(length);
    }
    input.end();
    this.count = count;
  }

  #begin(): void {
    this.count = 0;
    for (const list of this.#lists) list.length = 0;
    if (this.#keys.size > 0) this.#keys.clear();
  }

  #readStream(input: ByteReader): number {
    const index = input.varint();
    if (index < this.streamNames.length) return index;
    if (index > this.streamNames.length) throw new RangeError('a stream is out of turn');
    this.streamNames.push(input.text());
    this.#last.push(0);
    return index;
  }

  #readSource(input: ByteReader, payload: Buffer): number {
    const index = input.varint();
    if (index < this.sourceAt.length) return index;
    if (index > this.sourceAt.length) throw new RangeError('a source is out of turn');
    const { at } = input;
    this.sourceAt.push(at);
    this.queues.push(payload[at] === ONE_CHARACTER ? (payload[at + 1] ?? 0) : 0);
    input.skipText();
    input.skipText();
    this.sourceEnd.push(input.at);
    const agent = this.#readAgent(input);
    this.agentAt.push(this.#agents[agent] ?? 0);
    this.agentEnd.push(this.#agentEnds[agent] ?? 0);
    return index;
  }

  /** @returns index of the agent; -1 for none */
  #readAgent(input: ByteReader): number {
    const index = input.varint() - 1;
    if (index < this.#agents.length) return index;
    if (index > this.#agents.length) throw new RangeError('an agent is out of turn');
    this.#agents.push(input.at);
    for (let texts = 3; texts > 0; texts -= 1) input.skipText();
    for (let labels = input.varint() - 1; labels > 0; labels -= 1) {
      input.skipText();
      input.skipText();
    }
    this.#agentEnds.push(input.at);
    return index;
  }

  #grow(): void {
    const size = this.times.length * 2;
    this.times = grown(this.times, new Float64Array(size));
    this.sequences = grown(this.sequences, new Float64Array(size));
    this.streams = grown(this.streams, new Uint32Array(size));
    this.sources = grown(this.sources, new Uint32Array(size));
    this.messageAt = grown(this.messageAt, new Uint32Array(size));
    this.messageBytes = grown(this.messageBytes, new Uint32Array(size));
  }
}

function grown<T extends Float64Array | Uint32Array>(from: T, into: T): T {
  into.set(from);
  return into;
}

/** A source. @param sourceAt where it lies in the bytes. @param agent of it */
export function readEventSource(bytes: Buffer, sourceAt: number, agent: BusAgent | undefined): EventSource {
  const input = new ByteReader(bytes, sourceAt);
  return { queue: input.text(), location: input.text(), agent };
}

/** An agent. @param agentAt where its id lies in the bytes */
export function readEventAgent(bytes: Buffer, agentAt: number): BusAgent {
  return readAgentText(new ByteReader(bytes, agentAt));
}
