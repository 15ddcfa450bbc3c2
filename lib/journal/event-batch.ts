import type { BusAgent, EventBatch, EventCursor, EventSource } from '../bus/bus-event.js';
import type { ByteReader } from './byte-reader.js';
import { ByteWriter } from './byte-writer.js';

/*
 * A batch of events as the journal keeps it. Numbers are LEB128 varints unless said otherwise.
 *
 *   version  byte, 1
 *   count
 *   events:
 *     flags    byte, see below
 *     [stream  index; equal to the number of streams so far: a new one, its name follows]
 *     [source  index, likewise: queue, location, agent index + 1 or 0; an agent index may be new, likewise:
 *              id, name, ip, 0 or number of labels + 1, names and values]
 *     [sequence, time, idempotency key and index]
 *     message  length, bytes
 *
 * Texts are their length, doubled, plus 1 when they are UTF-16 instead of one byte a character.
 */
export const VERSION = 1;

/** Stream and source are those of the event before. */
export const SAME_ORIGIN = 1;
/** The sequence is that of the stream's last event plus 1; else plus a number, or absolute when it went back. */
export const NEXT_SEQUENCE = 2;
export const ABSOLUTE_SEQUENCE = 4;
/** Receive time is that of the event before; else plus a number, or a float64. */
export const SAME_TIME = 8;
export const FLOAT_TIME = 16;
export const IDEMPOTENCY = 32;

/** Bytes of an event without its texts, at most. */
const EVENT_BYTES = 64;

/** Bytes are no batch of events. */
export class EventBatchError extends Error {
  override readonly name = 'EventBatchError';
  readonly code = 'bad_event_batch';
}

/** A place where an event came from, by its index. */
type KnownSource = EventSource & { readonly index: number };
type KnownAgent = {
  readonly agent: BusAgent | undefined;
  /** Undefined until it is written. */
  index: number | undefined;
  /** By location; those that differ in the queue only are together. */
  readonly sources: Map<string, KnownSource[]>;
};
type KnownStream = { readonly name: string; readonly index: number; last: number };

/** A batch in the bytes of the journal. */
export type EncodedBatch = {
  readonly payload: Buffer;
  /** Events that it has. */
  readonly count: number;
  /** Queues of its events, each once. */
  readonly queues: ReadonlySet<string>;
};

/**
 * Encodes events with everything they carry, for the journal.
 * @throws RangeError for a sequence that is no safe integer of 0 or more
 */
export function encodeEventBatch(batch: Pick<EventBatch, 'count' | 'bytes' | 'cursors'>): EncodedBatch {
  return new BatchEncoder(batch.bytes + EVENT_BYTES).encode(batch.count, batch.cursors());
}

class BatchEncoder {
  readonly #out: ByteWriter;
  readonly #streams = new Map<string, KnownStream>();
  /** What is known of every agent; objects that say the same share it. */
  readonly #agents = new Map<BusAgent | undefined, KnownAgent>();
  /** The last one of every id. */
  readonly #agentsById = new Map<string, KnownAgent>();
  readonly #queues = new Set<string>();
  #sourceCount = 0;
  #agentCount = 0;
  /** Stream, source and time of the event before. */
  #stream: KnownStream | undefined;
  #source: EventSource | undefined;
  #time = 0;

  constructor(size: number) {
    this.#out = new ByteWriter(size);
  }

  encode(count: number, cursors: readonly EventCursor[]): EncodedBatch {
    this.#out.byte(VERSION);
    this.#out.varint(count);
    for (const cursor of cursors) while (cursor.next()) this.#add(cursor);
    return { payload: this.#out.finish(), count, queues: this.#queues };
  }

  #add(event: EventCursor): void {
    const out = this.#out;
    const { from, to, sequence, receivedAt, idempotency } = event;
    out.reserve(EVENT_BYTES + to - from);
    const flagsAt = out.skip();
    let flags = 0;
    let stream = this.#stream;
    if (stream !== undefined && stream.name === event.stream && this.#source === event.source) {
      flags |= SAME_ORIGIN;
    } else {
      this.#stream = stream = this.#putStream(event.stream);
      this.#source = event.source;
      this.#putSource(event.source);
    }
    if (sequence === stream.last + 1) {
      flags |= NEXT_SEQUENCE;
    } else if (sequence > stream.last) {
      out.varint(sequence - stream.last);
    } else {
      flags |= ABSOLUTE_SEQUENCE;
      out.varint(sequence);
    }
    stream.last = sequence;
    flags |= this.#putTime(receivedAt);
    if (idempotency !== undefined) {
      flags |= IDEMPOTENCY;
      out.text(idempotency.key);
      out.varint(idempotency.index);
      out.reserve(EVENT_BYTES + to - from);
    }
    out.varint(to - from);
    out.bytes(event.bytes, from, to);
    out.patch(flagsAt, flags);
  }

  /** @returns flags */
  #putTime(time: number): number {
    const later = time - this.#time;
    this.#time = time;
    if (later === 0 && !Object.is(time, -0)) return SAME_TIME;
    if (later > 0 && Number.isSafeInteger(later) && Number.isSafeInteger(time)) {
      this.#out.varint(later);
      return 0;
    }
    this.#out.float(time);
    return FLOAT_TIME;
  }

  #putStream(name: string): KnownStream {
    const known = this.#streams.get(name);
    if (known !== undefined) {
      this.#out.varint(known.index);
      return known;
    }
    const added = { name, index: this.#streams.size, last: 0 };
    this.#streams.set(name, added);
    this.#out.varint(added.index);
    this.#out.text(name);
    return added;
  }

  #putSource({ queue, location, agent }: EventSource): void {
    const from = this.#agents.get(agent) ?? this.#addAgent(agent);
    let chain = from.sources.get(location);
    if (chain === undefined) from.sources.set(location, (chain = []));
    for (const known of chain) {
      if (known.queue !== queue) continue;
      this.#out.varint(known.index);
      return;
    }
    const added = { queue, location, agent, index: this.#sourceCount++ };
    chain.push(added);
    this.#queues.add(queue);
    this.#out.varint(added.index);
    this.#out.text(queue);
    this.#out.text(location);
    this.#putAgent(from);
  }

  #addAgent(agent: BusAgent | undefined): KnownAgent {
    const sameId = agent === undefined ? undefined : this.#agentsById.get(agent.id);
    const isKnown = agent !== undefined && sameId?.agent !== undefined && isSameAgent(sameId.agent, agent);
    const known: KnownAgent = isKnown ? sameId : { agent, index: undefined, sources: new Map() };
    this.#agents.set(agent, known);
    if (agent !== undefined) this.#agentsById.set(agent.id, known);
    return known;
  }

  #putAgent(known: KnownAgent): void {
    const out = this.#out;
    const { agent } = known;
    if (agent === undefined || known.index !== undefined) {
      out.varint(known.index === undefined ? 0 : known.index + 1);
      return;
    }
    known.index = this.#agentCount++;
    out.varint(known.index + 1);
    out.text(agent.id);
    out.text(agent.name);
    out.text(agent.ip);
    out.varint(agent.labels === undefined ? 0 : agent.labels.size + 1);
    for (const [name, value] of agent.labels ?? []) {
      out.text(name);
      out.text(value);
    }
  }
}

function isSameAgent(a: BusAgent, b: BusAgent): boolean {
  if (a.id !== b.id || a.name !== b.name || a.ip !== b.ip) return false;
  if (a.labels === b.labels) return true;
  if (a.labels === undefined || b.labels === undefined || a.labels.size !== b.labels.size) return false;
  // In the same order, too: alerts list them so.
  const others = b.labels.entries();
  for (const [name, value] of a.labels) {
    const other = others.next().value;
    if (other?.[0] !== name || other[1] !== value) return false;
  }
  return true;
}

/** An agent, from where its id stands. */
export function readAgentText(input: ByteReader): BusAgent {
  const agent = { id: input.text(), name: input.text(), ip: input.text() };
  const labels = input.varint();
  return labels === 0 ? agent : { ...agent, labels: readLabels(input, labels - 1) };
}

function readLabels(input: ByteReader, count: number): Map<string, string> {
  const labels = new Map<string, string>();
  for (let number = 0; number < count; number += 1) labels.set(input.text(), input.text());
  return labels;
}
