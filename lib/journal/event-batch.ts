import type { BusAgent, ReceivedEvent } from '../bus/bus-event.js';
import { ByteReader } from './byte-reader.js';
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
type Source = { readonly queue: string; readonly location: string; readonly agent: BusAgent | undefined };
type KnownSource = Source & { readonly index: number };
type KnownAgent = {
  readonly agent: BusAgent | undefined;
  /** Undefined until it is written. */
  index: number | undefined;
  /** By location; those that differ in the queue only are together. */
  readonly sources: Map<string, KnownSource[]>;
};
type KnownStream = { readonly name: string; readonly index: number; last: number };

/**
 * Encodes events with everything they carry, for the journal.
 * @throws RangeError for a sequence that is no safe integer of 0 or more
 */
export function encodeEventBatch(events: readonly ReceivedEvent[]): Buffer {
  let size = 64;
  for (const { message } of events) size += message.length + EVENT_BYTES;
  return new BatchEncoder(size).encode(events);
}

class BatchEncoder {
  readonly #out: ByteWriter;
  readonly #streams = new Map<string, KnownStream>();
  /** What is known of every agent; objects that say the same share it, as the bus makes new ones for every message. */
  readonly #agents = new Map<BusAgent | undefined, KnownAgent>();
  /** The last one of every id. */
  readonly #agentsById = new Map<string, KnownAgent>();
  #sourceCount = 0;
  #agentCount = 0;

  constructor(size: number) {
    this.#out = new ByteWriter(size);
  }

  encode(events: readonly ReceivedEvent[]): Buffer {
    const out = this.#out;
    out.byte(VERSION);
    out.varint(events.length);
    let stream: KnownStream | undefined;
    let source: KnownSource | undefined;
    let time = 0;
    for (const event of events) {
      const { message, sequence, receivedAt, idempotency } = event;
      out.reserve(EVENT_BYTES + message.length);
      const flagsAt = out.skip();
      let flags = 0;
      if (
        stream !== undefined &&
        source !== undefined &&
        stream.name === event.stream &&
        source.location === event.location &&
        source.queue === event.queue &&
        source.agent === event.agent
      ) {
        flags |= SAME_ORIGIN;
      } else {
        stream = this.#stream(event.stream);
        source = this.#source(event);
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
      const later = receivedAt - time;
      if (later === 0 && !Object.is(receivedAt, -0)) {
        flags |= SAME_TIME;
      } else if (later > 0 && Number.isSafeInteger(later) && Number.isSafeInteger(receivedAt)) {
        out.varint(later);
      } else {
        flags |= FLOAT_TIME;
        out.float(receivedAt);
      }
      time = receivedAt;
      if (idempotency !== undefined) {
        flags |= IDEMPOTENCY;
        out.text(idempotency.key);
        out.varint(idempotency.index);
        out.reserve(EVENT_BYTES + message.length);
      }
      out.varint(message.length);
      out.bytes(message);
      out.patch(flagsAt, flags);
    }
    return out.finish();
  }

  #stream(name: string): KnownStream {
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

  #source({ queue, location, agent }: ReceivedEvent): KnownSource {
    const from = this.#agents.get(agent) ?? this.#addAgent(agent);
    let chain = from.sources.get(location);
    if (chain === undefined) from.sources.set(location, (chain = []));
    for (const known of chain) {
      if (known.queue !== queue) continue;
      this.#out.varint(known.index);
      return known;
    }
    const added = { queue, location, agent, index: this.#sourceCount++ };
    chain.push(added);
    this.#out.varint(added.index);
    this.#out.text(queue);
    this.#out.text(location);
    this.#putAgent(from);
    return added;
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

/**
 * Decodes what `encodeEventBatch` made. Messages share memory with the payload; agents, streams and locations are
 * shared between the events of the batch. `EventHeads` reads the same without making objects.
 * @throws EventBatchError for anything else
 */
export function decodeEventBatch(payload: Buffer): ReceivedEvent[] {
  try {
    return readEvents(new ByteReader(payload));
  } catch (error) {
    if (error instanceof RangeError) throw new EventBatchError(`batch of events is damaged: ${error.message}`);
    throw error;
  }
}

function readEvents(input: ByteReader): ReceivedEvent[] {
  const version = input.byte();
  if (version !== VERSION) throw new EventBatchError(`batch of events has version ${version}, ${VERSION} is known`);
  const count = input.varint();
  const streams: KnownStream[] = [];
  const sources: Source[] = [];
  const agents: BusAgent[] = [];
  const events: ReceivedEvent[] = [];
  let stream: KnownStream | undefined;
  let source: Source | undefined;
  let time = 0;
  for (let number = 0; number < count; number += 1) {
    const flags = input.byte();
    if ((flags & SAME_ORIGIN) === 0) {
      stream = readStream(input, streams);
      source = readSource(input, sources, agents);
    }
    if (stream === undefined || source === undefined) throw new RangeError('the first event has no origin');
    let sequence: number;
    if ((flags & NEXT_SEQUENCE) !== 0) sequence = stream.last + 1;
    else sequence = (flags & ABSOLUTE_SEQUENCE) !== 0 ? input.varint() : stream.last + input.varint();
    stream.last = sequence;
    if ((flags & FLOAT_TIME) !== 0) time = input.float();
    else if ((flags & SAME_TIME) === 0) time += input.varint();
    const idempotency = (flags & IDEMPOTENCY) === 0 ? undefined : { key: input.text(), index: input.varint() };
    const message = input.bytes(input.varint());
    const { queue, location, agent } = source;
    events.push({ queue, location, message, receivedAt: time, agent, idempotency, stream: stream.name, sequence });
  }
  input.end();
  return events;
}

function readStream(input: ByteReader, streams: KnownStream[]): KnownStream {
  const index = input.varint();
  const known = streams[index];
  if (known !== undefined) return known;
  if (index !== streams.length) throw new RangeError('a stream is out of turn');
  const added = { name: input.text(), index, last: 0 };
  streams.push(added);
  return added;
}

function readSource(input: ByteReader, sources: Source[], agents: BusAgent[]): Source {
  const index = input.varint();
  const known = sources[index];
  if (known !== undefined) return known;
  if (index !== sources.length) throw new RangeError('a source is out of turn');
  const added = { queue: input.text(), location: input.text(), agent: readAgent(input, agents) };
  sources.push(added);
  return added;
}

function readAgent(input: ByteReader, agents: BusAgent[]): BusAgent | undefined {
  const index = input.varint() - 1;
  if (index < 0) return undefined;
  const known = agents[index];
  if (known !== undefined) return known;
  if (index !== agents.length) throw new RangeError('an agent is out of turn');
  const added = readAgentText(input);
  agents.push(added);
  return added;
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
