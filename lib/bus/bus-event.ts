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

/**
 * What the sink hands on in one go. No event of it was handed on before, and those of one stream are in the stream's
 * order. It must take effect whole or not at all.
 */
export type EventBatch = {
  readonly events: readonly ReceivedEvent[];
  /** Last sequence of every stream in this batch: to be kept in the same step as the events. */
  readonly positions: ReadonlyMap<string, number>;
};
