import type { BusAgent, EventSource, ReceivedEvent } from '../../../lib/bus/bus-event.js';
import { ByteReader } from '../../../lib/journal/byte-reader.js';
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
} from '../../../lib/journal/event-batch.js';

type NamedStream = { readonly name: string; last: number };

/**
 * Decodes what `encodeEventBatch` made. Messages share memory with the payload; agents, streams and locations are
 * shared between the events of the batch.
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
  const streams: NamedStream[] = [];
  const sources: EventSource[] = [];
  const agents: BusAgent[] = [];
  const events: ReceivedEvent[] = [];
  let stream: NamedStream | undefined;
  let source: EventSource | undefined;
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

function readStream(input: ByteReader, streams: NamedStream[]): NamedStream {
  const index = input.varint();
  const known = streams[index];
  if (known !== undefined) return known;
  if (index !== streams.length) throw new RangeError('a stream is out of turn');
  const added = { name: input.text(), last: 0 };
  streams.push(added);
  return added;
}

function readSource(input: ByteReader, sources: EventSource[], agents: BusAgent[]): EventSource {
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
