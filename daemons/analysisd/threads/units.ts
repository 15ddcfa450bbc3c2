import type { BusAgent, BusEvent, EventSource } from '../../../lib/bus/bus-event.js';
import { type EventHeads, readEventAgent, readEventSource } from '../../../lib/journal/event-heads.js';

/*
 * A unit of work that all threads get: events of one or several records of the journal, as they lie there, and which thread
 * analyses each. Columns lie one behind the other; numbers are the machine's own, as no other one reads them:
 *
 *   head      32 bits each: number of events, of sources, 0, 0
 *   times     float64 an event, epoch milliseconds
 *   messages  32 bits an event each: source, place of the message, its bytes
 *   sources   32 bits each: place of the source, of its agent or 0
 *   owners    8 bits an event: thread
 *   queues    8 bits an event: code of the queue's character
 *   records
 */

/** In place of a thread, of which there are fewer: nobody analyses the event. */
export const NOBODY = 255;

const WORD = Uint32Array.BYTES_PER_ELEMENT;
const HEAD_WORDS = 4;
/** 32-bit columns of events and of sources. */
const EVENT_WORDS = 3;
const SOURCE_WORDS = 2;

/** A unit as it lies in memory that threads share. */
export class Unit {
  readonly memory: SharedArrayBuffer;
  /** Events. */
  readonly count: number;
  /** When each was received, epoch milliseconds. */
  readonly times: Float64Array;
  /** Which thread analyses each, or NOBODY. */
  readonly owners: Uint8Array;
  /** Codes of the characters of their queues. */
  readonly queues: Uint8Array;
  readonly #bytes: Buffer;
  readonly #words: Uint32Array;
  /** Those that were read. */
  readonly #sources: (EventSource | undefined)[] = [];
  readonly #agents = new Map<number, BusAgent>();

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    const [count = 0, sources = 0] = new Uint32Array(memory, 0, HEAD_WORDS);
    this.count = count;
    const timesEnd = HEAD_WORDS * WORD + count * Float64Array.BYTES_PER_ELEMENT;
    const words = EVENT_WORDS * count + SOURCE_WORDS * sources;
    this.times = new Float64Array(memory, HEAD_WORDS * WORD, count);
    this.#words = new Uint32Array(memory, timesEnd, words);
    this.owners = new Uint8Array(memory, timesEnd + words * WORD, count);
    this.queues = new Uint8Array(memory, timesEnd + words * WORD + count, count);
    this.#bytes = Buffer.from(memory);
  }

  /** One of its events; the message shares memory with it. */
  event(index: number): BusEvent {
    const { count } = this;
    const words = this.#words;
    const { queue, location, agent } = this.#source(words[index] ?? 0);
    const at = words[count + index] ?? 0;
    const end = at + (words[2 * count + index] ?? 0);
    return { queue, location, agent, message: this.#bytes.subarray(at, end), receivedAt: this.times[index] ?? 0 };
  }

  /** The events that one thread analyses, in their order. Once the last one is given, nothing is read of the memory any more. */
  *eventsOf(thread: number): Generator<BusEvent> {
    const { owners } = this;
    const own: number[] = [];
    for (let index = 0; index < owners.length; index += 1) if (owners[index] === thread) own.push(index);
    for (const index of own) yield this.event(index);
  }

  #source(number: number): EventSource {
    const known = this.#sources[number];
    if (known !== undefined) return known;
    const at = EVENT_WORDS * this.count + SOURCE_WORDS * number;
    const read = readEventSource(this.#bytes, this.#words[at] ?? 0, this.#agent(this.#words[at + 1] ?? 0));
    this.#sources[number] = read;
    return read;
  }

  #agent(at: number): BusAgent | undefined {
    if (at === 0) return undefined;
    const known = this.#agents.get(at);
    if (known !== undefined) return known;
    const read = readEventAgent(this.#bytes, at);
    this.#agents.set(at, read);
    return read;
  }
}

const FIRST_EVENTS = 1024;

/** Puts a unit together; afterwards another one in the same memory. */
export class UnitBuilder {
  /** Events that are in it, and bytes of their messages. */
  count = 0;
  messageBytes = 0;
  #times = new Float64Array(FIRST_EVENTS);
  #columns = Array.from({ length: EVENT_WORDS }, () => new Uint32Array(FIRST_EVENTS));
  #owners = new Uint8Array(FIRST_EVENTS);
  #queues = new Uint8Array(FIRST_EVENTS);
  readonly #sources: number[] = [];
  #payloads: Buffer[] = [];
  #recordBytes = 0;

  /** Bytes of the records that events of it lie in: what it takes of memory, but for its columns. */
  get recordBytes(): number {
    return this.#recordBytes;
  }

  /**
   * Adds events `from` up to `to`, exclusive, of a record.
   * @param ownerOf which thread analyses an event, or NOBODY; called once for each, in their order
   */
  add(payload: Buffer, heads: EventHeads, from: number, to: number, ownerOf: (index: number) => number): void {
    const base = this.#recordBytes;
    const firstSource = this.#sources.length / SOURCE_WORDS;
    while (this.count + to - from > this.#times.length) this.#grow();
    const [sources, messageAt, messageBytes] = this.#columns as [Uint32Array, Uint32Array, Uint32Array];
    let at = this.count;
    for (let index = from; index < to; index += 1) {
      const source = heads.sources[index] ?? 0;
      const bytes = heads.messageBytes[index] ?? 0;
      this.#times[at] = heads.times[index] ?? 0;
      sources[at] = firstSource + source;
      messageAt[at] = base + (heads.messageAt[index] ?? 0);
      messageBytes[at] = bytes;
      this.#queues[at] = heads.queues[source] ?? 0;
      this.#owners[at] = ownerOf(index);
      this.messageBytes += bytes;
      at += 1;
    }
    this.count = at;
    for (let source = 0; source < heads.sourceAt.length; source += 1) {
      const agentAt = heads.agentAt[source] ?? 0;
      this.#sources.push(base + (heads.sourceAt[source] ?? 0), agentAt === 0 ? 0 : base + agentAt);
    }
    this.#payloads.push(payload);
    this.#recordBytes += payload.length;
  }

  /** The unit of what was added; the next one begins. @param take gives memory of so many bytes or more */
  build(take: (bytes: number) => SharedArrayBuffer): Unit {
    const { count } = this;
    const sources = this.#sources;
    const wordsAt = HEAD_WORDS * WORD + count * Float64Array.BYTES_PER_ELEMENT;
    const ownersAt = wordsAt + (EVENT_WORDS * count + sources.length) * WORD;
    const payloadsAt = ownersAt + 2 * count;
    const memory = take(payloadsAt + this.#recordBytes);
    new Uint32Array(memory, 0, HEAD_WORDS).set([count, sources.length / SOURCE_WORDS, 0, 0]);
    new Float64Array(memory, HEAD_WORDS * WORD, count).set(this.#times.subarray(0, count));
    const words = new Uint32Array(memory, wordsAt, EVENT_WORDS * count + sources.length);
    this.#columns.forEach((column, number) => {
      words.set(column.subarray(0, count), number * count);
    });
    for (let index = count; index < 2 * count; index += 1) words[index] = (words[index] ?? 0) + payloadsAt;
    sources.forEach((place, index) => {
      words[EVENT_WORDS * count + index] = place === 0 ? 0 : place + payloadsAt;
    });
    const bytes = new Uint8Array(memory);
    bytes.set(this.#owners.subarray(0, count), ownersAt);
    bytes.set(this.#queues.subarray(0, count), ownersAt + count);
    let at = payloadsAt;
    for (const payload of this.#payloads) {
      bytes.set(payload, at);
      at += payload.length;
    }
    this.#begin();
    return new Unit(memory);
  }

  #begin(): void {
    this.count = 0;
    this.messageBytes = 0;
    this.#sources.length = 0;
    this.#payloads = [];
    this.#recordBytes = 0;
  }

  #grow(): void {
    const size = this.#times.length * 2;
    const times = new Float64Array(size);
    times.set(this.#times);
    this.#times = times;
    this.#columns = this.#columns.map((column) => {
      const larger = new Uint32Array(size);
      larger.set(column);
      return larger;
    });
    const [owners, queues] = [new Uint8Array(size), new Uint8Array(size)];
    owners.set(this.#owners);
    queues.set(this.#queues);
    this.#owners = owners;
    this.#queues = queues;
  }
}
