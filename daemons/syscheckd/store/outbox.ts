import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import type { BinaryTable } from '../../../lib/store/binary-table.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import { StoreError } from '../../../lib/store/store-error.js';
import type { StoreTable } from '../../../lib/store/store-table.js';
import type { StateWriter } from './state-writer.js';

/** An event that is to reach the sink of the home. */
export type OutEvent = {
  /** Queue id: integrity, rootcheck, notices (integrity-and-inventory.md 1.1). */
  readonly queue: (typeof QUEUES)[number];
  /** Byte string. */
  readonly location: string;
  /** At most `MAX_FIM_MESSAGE_BYTES`. */
  readonly message: Buffer;
};

/** Where events go that must not be lost: they are kept on disk until the sink has acknowledged them, and go in order. */
export interface EventOutbox {
  /** Resolves when they are on disk, all or none; waits while too much is on its way. */
  put(events: readonly OutEvent[]): Promise<void>;
}

/** An event with its place in the stream. */
export type SequencedEvent = OutEvent & { readonly sequence: number };

/** Events that are on their way before those who make them wait. A group that crosses the limit is taken whole. */
export const MOST_EVENTS = 100_000;
/** The same in bytes of messages: a thousand with diffs as long as they may be. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Room there must be before those who wait go on, so that they are not called for each single place. */
const ROOMY = 3 / 4;

/** Bytes of a location at most. */
const MOST_LOCATION_BYTES = 255;
const HEADER_BYTES = 2;
const QUEUES = [QUEUE_IDS.fileIntegrity, QUEUE_IDS.rootcheck, QUEUE_IDS.log] as const;

const KEY_BYTES = 8;
const FIRST_KEY = Buffer.alloc(KEY_BYTES);
const LAST_KEY = Buffer.alloc(KEY_BYTES, 0xff);

/** Where the outbox keeps what is not an event. */
export type OutboxNotes = {
  /** `name` of the stream. */
  readonly names: StoreTable<string, string>;
  /** `acknowledged`: last sequence that left the outbox. */
  readonly numbers: StoreTable<string, number>;
};

/** Changes that put events in the outbox; they are on their way, and count, from now on. */
export type StagedEvents = { readonly changes: readonly Change[]; readonly last: number };

/**
 * Events in the order they go in (architecture.md 4 "Events"): their stream is the outbox's own and outlives the process, the
 * sequence is the key.
 */
export class Outbox implements EventOutbox {
  readonly #table: BinaryTable;
  readonly #notes: OutboxNotes;
  readonly #writer: StateWriter;
  readonly #newName: () => string;
  #name: string;
  /** Last sequence given to an event. */
  #last: number;
  /** Last sequence that is on disk. */
  #onDisk: number;
  /** Last sequence that was acknowledged. */
  #acknowledged: number;
  /** Bytes of the messages behind it, in their order. */
  #sizes: number[] = [];
  #bytes = 0;
  #roomWaiters: (() => void)[] = [];
  #listener: () => void = () => {};

  /** @param newName a name no stream ever had @throws StoreError `damaged` */
  constructor(table: BinaryTable, notes: OutboxNotes, writer: StateWriter, newName: () => string) {
    this.#table = table;
    this.#notes = notes;
    this.#writer = writer;
    this.#newName = newName;
    this.#acknowledged = notes.numbers.get('acknowledged') ?? 0;
    this.#last = this.#acknowledged;
    for (const { key, value } of table.entries({ from: FIRST_KEY, to: LAST_KEY })) {
      const sequence = sequenceOf(key);
      if (this.#sizes.length === 0) this.#acknowledged = sequence - 1;
      if (sequence !== this.#acknowledged + this.#sizes.length + 1) throw damaged();
      this.#sizes.push(decodeEvent(value, sequence).message.length);
      this.#last = sequence;
    }
    this.#bytes = this.#sizes.reduce((sum, size) => sum + size, 0);
    this.#onDisk = this.#last;
    const name = notes.names.get('stream');
    this.#name = name ?? newName();
    if (name === undefined) void writer.write([notes.names.put('stream', this.#name)]);
  }

  /** Of the stream. */
  get name(): string {
    return this.#name;
  }

  /** Events that are on their way, those not yet on disk included. */
  get size(): number {
    return this.#last - this.#acknowledged;
  }

  /** Bytes of their messages. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Last sequence that was given to an event. */
  get last(): number {
    return this.#last;
  }

  /** Last sequence that was acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Last sequence that is on disk: up to it events may be sent. */
  get onDisk(): number {
    return this.#onDisk;
  }

  /** @param listener called when more is on disk */
  listen(listener: () => void): void {
    this.#listener = listener;
  }

  async put(events: readonly OutEvent[]): Promise<void> {
    await this.room();
    const { changes, last } = this.stage(events);
    await this.#writer.write(changes);
    this.written(last);
  }

  /** Undefined while there is room, else resolves when there is. */
  room(): Promise<void> | undefined {
    if (this.size < MOST_EVENTS && this.#bytes < MOST_BYTES) return undefined;
    return new Promise((resolve) => this.#roomWaiters.push(resolve));
  }

  /** Gives events their places; they go to disk with `changes`, and `written` is to be called then. */
  stage(events: readonly OutEvent[]): StagedEvents {
    const changes = events.map((event) => {
      this.#last += 1;
      this.#sizes.push(event.message.length);
      this.#bytes += event.message.length;
      return this.#table.put(keyOf(this.#last), encodeEvent(event));
    });
    return { changes, last: this.#last };
  }

  /** Events up to this sequence are on disk. */
  written(last: number): void {
    if (last <= this.#onDisk) return;
    this.#onDisk = last;
    this.#listener();
  }

  /** Events on disk behind a sequence. @param most of them @param bytes after which no further one is read */
  behind(sequence: number, most: number, bytes: number): SequencedEvent[] {
    const events: SequencedEvent[] = [];
    let read = 0;
    const from = keyOf(Math.max(sequence, this.#acknowledged) + 1);
    for (const { key, value } of this.#table.entries({ from, to: keyOf(this.#onDisk), limit: most })) {
      const event = decodeEvent(value, sequenceOf(key));
      events.push(event);
      read += event.message.length;
      if (read >= bytes) break;
    }
    return events;
  }

  /** Events up to a sequence have reached the sink, and go. Those who wait for room go on at once. */
  async acknowledge(sequence: number): Promise<void> {
    const last = Math.min(sequence, this.#onDisk);
    if (last <= this.#acknowledged) return;
    const changes: Change[] = [this.#notes.numbers.put('acknowledged', last)];
    for (let next = this.#acknowledged + 1; next <= last; next += 1) changes.push(this.#table.remove(keyOf(next)));
    const sizes = this.#sizes.splice(0, last - this.#acknowledged);
    this.#bytes -= sizes.reduce((sum, size) => sum + size, 0);
    this.#acknowledged = last;
    const roomy = this.size <= MOST_EVENTS * ROOMY && this.#bytes <= MOST_BYTES * ROOMY;
    if (roomy) for (const resolve of this.#roomWaiters.splice(0)) resolve();
    await this.#writer.write(changes);
  }

  /**
   * Goes on under another name, because the sink knows more of this one than was ever given out: it was so with the
   * state that this one is an older copy of, and would take new events for old.
   */
  async rename(): Promise<void> {
    this.#name = this.#newName();
    await this.#writer.write([this.#notes.names.put('stream', this.#name)]);
  }

  /** Nothing is taken any more: those who wait for room go on and hear so from the store. */
  close(): void {
    for (const resolve of this.#roomWaiters.splice(0)) resolve();
  }
}

function keyOf(sequence: number): Buffer {
  const key = Buffer.alloc(KEY_BYTES);
  key.writeUIntBE(sequence, KEY_BYTES - 6, 6);
  return key;
}

function sequenceOf(key: Buffer): number {
  if (key.length !== KEY_BYTES) throw damaged();
  return key.readUIntBE(KEY_BYTES - 6, 6);
}

function encodeEvent({ queue, location, message }: OutEvent): Buffer {
  if (location.length > MOST_LOCATION_BYTES) throw new RangeError(`a location of ${location.length} bytes`);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + location.length + message.length);
  bytes[0] = queue.charCodeAt(0);
  bytes[1] = location.length;
  bytes.write(location, HEADER_BYTES, 'latin1');
  message.copy(bytes, HEADER_BYTES + location.length);
  return bytes;
}

function decodeEvent(bytes: Buffer, sequence: number): SequencedEvent {
  const queue = QUEUES.find((each) => each.charCodeAt(0) === bytes[0]);
  const end = HEADER_BYTES + (bytes[1] ?? 0);
  if (queue === undefined || bytes.length < end) throw damaged();
  return {
    sequence,
    queue,
    location: bytes.toString('latin1', HEADER_BYTES, end),
    message: Buffer.from(bytes.subarray(end)),
  };
}

function damaged(): StoreError {
  return new StoreError('damaged', 'queue/fim/db: the outbox is not what it should be');
}
