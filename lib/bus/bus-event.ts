/** Who an agent's event comes from, as known when it was received (architecture.md 4 "Journal and checkpoint"). */
export type BusAgent = {
  /** Three digits or more, never `000`. */
  readonly id: string;
  readonly name: string;
  /** Registered address: `any`, an address, or a network. */
  readonly ip: string;
  readonly labels?: ReadonlyMap<string, string> | undefined;
};

/** Ties an event to a client's request, so that a repeated request gives no second alert (architecture.md 4 "Events").
 * The bus carries it; who takes the batches keeps the keys and drops the repeats. */
export type Idempotency = {
  /** 1 to 128 visible ASCII characters: the client's key, made unique to its user by the API. */
  readonly key: string;
  /** Place of the event in its request, from 0. */
  readonly index: number;
};

/** An event on its way to the sink of the home (analysisd, or agentd on an agent host). */
export type BusEvent = {
  /** Queue id, one character (decoding.md 3.1). */
  readonly queue: string;
  /** Unescaped location as a byte string (one char code 0..255 a byte), such as the engine takes. */
  readonly location: string;
  /** Raw message, at most `MAX_EVENT_BYTES` bytes. It may share memory with the batch it came in. */
  readonly message: Buffer;
  /** Receive time, epoch milliseconds. */
  readonly receivedAt: number;
  readonly agent?: BusAgent | undefined;
  readonly idempotency?: Idempotency | undefined;
};

/** An event as the sink hands it on, with its place in its stream. */
export type ReceivedEvent = BusEvent & { readonly stream: string; readonly sequence: number };

/** Where an event came from. Many events share it: it is the same object for equal ones, as far as that is known. */
export type EventSource = Pick<BusEvent, 'queue' | 'location'> & { readonly agent: BusAgent | undefined };

/**
 * Events read one after the other from the bytes they came in, without an object for each: what it says is that of the event
 * that `next` moved to.
 */
export interface EventCursor {
  /** Moves to the next event. @returns false when there is none */
  next(): boolean;
  readonly source: EventSource;
  readonly stream: string;
  readonly sequence: number;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  readonly idempotency: Idempotency | undefined;
  /** The message is bytes `from` up to `to`, exclusive, of these. */
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

/**
 * What the sink hands on in one go. No event of it was handed on before, and those of one stream are in the stream's
 * order. It must take effect whole or not at all.
 */
export interface EventBatch {
  /** Events that it has. */
  readonly count: number;
  /** Bytes that they came in. */
  readonly bytes: number;
  /** Last sequence of every stream in this batch: to be kept in the same step as the events. */
  readonly positions: ReadonlyMap<string, number>;
  /** Cursors over its events, each from its first one on, to be read one after the other. */
  cursors(): readonly EventCursor[];
  /** The events, made when they are asked for. */
  readonly events: readonly ReceivedEvent[];
}

/** The event a cursor is at. Its message shares memory with the bytes it came in. */
export function eventAt({
  source,
  stream,
  sequence,
  receivedAt,
  idempotency,
  bytes,
  from,
  to,
}: EventCursor): ReceivedEvent {
  const { queue, location, agent } = source;
  const message = bytes.subarray(from, to);
  return { queue, location, message, receivedAt, agent, idempotency, stream, sequence };
}
