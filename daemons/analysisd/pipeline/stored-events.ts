import { setImmediate as nextTurn } from 'node:timers/promises';
import { pause } from '../../../lib/async/pause.js';
import { retry } from '../../../lib/async/retry.js';
import { MAX_APPLY_BYTES, MAX_OPERATIONS, type StoredOperation } from '../../../lib/bus/contracts/db-events.js';
import { MemoryStreamPositions } from '../../../lib/bus/stream-positions.js';
import { type EventHead, EventHeads } from '../../../lib/journal/event-heads.js';
import type { Journal } from '../../../lib/journal/journal.js';
import { JournalDamageError } from '../../../lib/journal/journal-error.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import { JournalFeed } from './journal-feed.js';
import { isEvents, type OfferedRecord, type RecordedEntry, type RecordedEvents } from './journal-record.js';

/** A call of svc-db's `apply`. */
export type ApplyCall = {
  readonly journal: string;
  readonly operations: readonly StoredOperation[];
  readonly upTo: number;
  readonly after?: number;
};
type CallOptions = { readonly deadlineMs?: number; readonly signal?: AbortSignal };

/** A place in svc-db that is told events of some queues. */
export type EventStore = {
  /** As log lines and statistics name it. */
  readonly name: string;
  /** Kind of an event, by its queue; those of other queues are for others. */
  readonly kinds: ReadonlyMap<string, string>;
  readonly position: (options: CallOptions) => Promise<{ readonly journal: string; readonly position: number }>;
  readonly apply: (call: ApplyCall, options: CallOptions) => Promise<unknown>;
};

export type StoredEventsParts = {
  readonly journal: Journal;
  /** Name of the journal. */
  readonly identity: string;
  readonly store: EventStore;
  readonly logger: Logger;
  /** Bytes of the journal that are kept for a svc-db that does not answer; beyond that events are passed over. */
  readonly mostHeld: number;
  /** Between two tries, and between two notes of how far it is; milliseconds. For tests. */
  readonly retryMs?: number;
  readonly noteMs?: number;
};

const RETRY_MS = 500;
/** How often svc-db is told that there was nothing for it: what is before it need not be kept. */
const NOTE_MS = 5000;
/** A call may wait for the disk. */
const DEADLINE_MS = 30_000;
/** Milliseconds of one turn of the event loop: the analysis has its own. */
const TURN_MS = 5;

/** @property record where the record of the event begins: a start goes on at a record */
type PendingOperation = { readonly operation: StoredOperation; readonly record: number };

/** A call that is not answered. @property failure resolves with undefined when svc-db took it */
type PendingCall = {
  readonly count: number;
  readonly bytes: number;
  readonly upTo: number;
  /** Position behind its last event. */
  readonly last: number;
  readonly failure: Promise<{ readonly error: unknown } | undefined>;
};
/** Calls on their way: svc-db makes the next transaction while one goes to the disk. */
const MOST_FLIGHTS = 2;

/**
 * Takes events that are stored beside their analysis from the journal to svc-db, in the order of the journal: neither
 * waits for the other. svc-db stores how far it is together with what it stores, and each start goes on from there. While svc-db is away, the events wait in the journal, so many bytes of it; then they are passed over and
 * counted: the agents' synchronisation tells the same again.
 */
export class StoredEvents {
  readonly counters = { received: 0, stored: 0, failed: 0, passed_over: { gaps: 0, bytes: 0 } };
  readonly #parts: StoredEventsParts;
  readonly #waitLog: LimitedLogger;
  readonly #lossLog: LimitedLogger;
  readonly #streams = new MemoryStreamPositions();
  /** To look at what is offered. */
  readonly #heads = new EventHeads();
  readonly #head: EventHead = { stream: '', sequence: 0, receivedAt: 0, idempotency: undefined };
  readonly #stopped = new AbortController();
  /** Undefined until svc-db has told where to go on. */
  #feed: JournalFeed | undefined;
  #pending: PendingOperation[] = [];
  /** Those in front that are on their way. */
  #sent = 0;
  #flights: PendingCall[] = [];
  /** Of those that are not on their way. */
  #unsentBytes = 0;
  /** Position behind the records that were taken from the feed. */
  #taken = 0;
  /** Position up to which svc-db has everything. */
  #stored: number | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: StoredEventsParts) {
    this.#parts = parts;
    this.#waitLog = parts.logger.limited();
    this.#lossLog = parts.logger.limited();
  }

  /** Of the store. */
  get name(): string {
    return this.#parts.store.name;
  }

  /** Begins. @param onFailure gets what should never be thrown */
  start(onFailure: (error: unknown) => void): void {
    this.#running = this.#run().catch((error: unknown) => {
      if (!this.#stopped.signal.aborted) onFailure(error);
    });
  }

  /** Ends; what is not stored goes on its way after the next start. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#feed?.wake();
    await this.#running;
    this.#feed?.close();
  }

  /** Tells of a record that is durable now. */
  offer(record: OfferedRecord): void {
    const { content } = record;
    if ('payload' in content && [...content.queues].some((queue) => this.#parts.store.kinds.has(queue))) {
      const { sources, queues, count } = this.#heads.read(content.payload);
      for (let index = 0; index < count; index += 1) {
        if (this.#kindOf(queues[sources[index] ?? 0] ?? 0) !== undefined) this.counters.received += 1;
      }
    }
    this.#feed?.offer(record);
  }

  /** Position before which nothing is needed; nothing keeps more of the journal than it may. */
  get needed(): number {
    const { journal, mostHeld } = this.#parts;
    return Math.max(this.#stored ?? 0, journal.end - mostHeld);
  }

  /** Position up to which svc-db has everything; undefined when that is not known yet. */
  get stored(): number | undefined {
    return this.#stored;
  }

  async #run(): Promise<void> {
    await this.#begin();
    let notedAt = performance.now();
    const { noteMs = NOTE_MS } = this.#parts;
    while (!this.#stopped.signal.aborted) {
      await this.#collect();
      const isNoteDue = performance.now() - notedAt >= noteMs;
      const isUnsent = this.#pending.length > this.#sent;
      const isAhead = isNoteDue && this.#flights.length === 0 && this.#taken > (this.#stored ?? 0);
      if ((isUnsent || isAhead) && this.#flights.length < MOST_FLIGHTS) {
        this.#send();
      } else if (this.#flights.length > 0) {
        if (await this.#answered()) notedAt = performance.now();
        else await this.#pause();
      } else {
        if (isNoteDue) notedAt = performance.now();
        await this.#waitForMore(Math.max(1, notedAt + noteMs - performance.now()));
      }
    }
  }

  /** Asks svc-db how far it is. */
  async #begin(): Promise<void> {
    const { journal, identity, store } = this.#parts;
    const { signal } = this.#stopped;
    const stored = await retry(() => store.position({ signal }), {
      pauseMs: this.#parts.retryMs ?? RETRY_MS,
      signal,
      onFailure: (error) => {
        if (this.counters.received > 0) this.#waiting(error);
      },
    });
    const from = stored.journal === identity ? stored.position : journal.start;
    if (from < journal.start) this.#passedOver(from, journal.start);
    this.#taken = Math.max(from, journal.start);
    this.#stored = from;
    this.#feed = new JournalFeed(journal, this.#taken, (error) => {
      if (error instanceof JournalDamageError) this.#passedOver(error.report.from, error.report.to);
      else this.#lossLog.error(`Events of ${store.name} may not be stored: ${describeError(error)}`);
    });
  }

  /** Takes events from the journal until there are enough for a call, or no more. */
  async #collect(): Promise<void> {
    const feed = this.#feed;
    if (feed === undefined) return;
    let turnAt = performance.now();
    while (this.#pending.length - this.#sent < MAX_OPERATIONS && this.#unsentBytes < MAX_APPLY_BYTES / 2) {
      let entry: RecordedEntry | undefined;
      try {
        entry = feed.next();
      } catch (error) {
        this.#lossLog.error(`The journal cannot be read for svc-db, trying again: ${describeError(error)}`);
        await this.#pause();
      }
      if (entry === undefined || this.#stopped.signal.aborted) return;
      if (isEvents(entry)) this.#take(entry);
      this.#taken = entry.next;
      if (performance.now() - turnAt >= TURN_MS) {
        await nextTurn();
        turnAt = performance.now();
      }
    }
  }

  /** Each event takes a byte of its record at least: its position is the record's and its place among those of its kind. */
  #take({ position, content, payload }: RecordedEvents): void {
    const { count, sources, queues, messageAt, messageBytes } = content;
    const head = this.#head;
    let place = 0;
    for (let index = 0; index < count; index += 1) {
      const source = sources[index] ?? 0;
      const kind = this.#kindOf(queues[source] ?? 0);
      if (kind === undefined) continue;
      place += 1;
      content.put(index, head);
      // A record can be in the journal twice, after a write that failed half way.
      if (head.sequence <= (this.#streams.get(head.stream) ?? -1)) continue;
      this.#streams.set(head.stream, head.sequence);
      const at = messageAt[index] ?? 0;
      // A copy: it may wait for long, and would hold the whole record in memory.
      const message = Buffer.from(payload.subarray(at, at + (messageBytes[index] ?? 0)));
      const agent = content.agentIdOf(payload, source) ?? '000';
      const operation = { position: position + place - 1, agent, kind, at: head.receivedAt, message };
      this.#pending.push({ operation, record: position });
      this.#unsentBytes += message.length;
    }
  }

  /** Kind of the events of a queue, by the code of its character; undefined when they are for others. */
  #kindOf(queue: number): string | undefined {
    return this.#parts.store.kinds.get(String.fromCharCode(queue));
  }

  /** Sends the next events behind those that are on their way. */
  #send(): void {
    const { identity } = this.#parts;
    const operations: StoredOperation[] = [];
    let bytes = 0;
    for (const { operation } of this.#pending.slice(this.#sent, this.#sent + MAX_OPERATIONS)) {
      if (operations.length > 0 && bytes + operation.message.length > MAX_APPLY_BYTES) break;
      operations.push(operation);
      bytes += operation.message.length;
    }
    const count = operations.length;
    const upTo = this.#pending[this.#sent + count]?.record ?? this.#taken;
    // Should the call before it fail, this one does so, too: it would leave a gap.
    const after = this.#flights.at(-1)?.last;
    const call = { journal: identity, operations, upTo, ...(after === undefined ? {} : { after }) };
    const failure = this.#apply(call);
    const last = (operations.at(-1)?.position ?? upTo - 1) + 1;
    this.#flights.push({ count, bytes, upTo, last, failure });
    this.#sent += count;
    this.#unsentBytes -= bytes;
  }

  async #apply(call: ApplyCall): Promise<{ readonly error: unknown } | undefined> {
    try {
      await this.#parts.store.apply(call, { deadlineMs: DEADLINE_MS, signal: this.#stopped.signal });
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  /** Waits for the first call. @returns false when svc-db did not take it: all on their way are to be sent again */
  async #answered(): Promise<boolean> {
    const [flight] = this.#flights;
    if (flight === undefined) return true;
    const failure = await flight.failure;
    if (failure !== undefined) {
      this.#waiting(failure.error);
      for (const { bytes, failure: end } of this.#flights.splice(0)) {
        await end;
        this.#unsentBytes += bytes;
      }
      this.#sent = 0;
      return false;
    }
    this.#flights.shift();
    this.#pending.splice(0, flight.count);
    this.#sent -= flight.count;
    this.counters.stored += flight.count;
    this.#stored = flight.upTo;
    return true;
  }

  async #waitForMore(milliseconds: number): Promise<void> {
    const feed = this.#feed;
    if (feed === undefined || this.#stopped.signal.aborted) return;
    const timer = setTimeout(() => {
      feed.wake();
    }, milliseconds);
    await feed.wait();
    clearTimeout(timer);
  }

  #waiting(error: unknown): void {
    if (this.#stopped.signal.aborted) return;
    this.counters.failed += 1;
    this.#waitLog.warn(
      `Events of ${this.#parts.store.name} wait in the journal, as svc-db does not take them: ${describeError(error)}`,
    );
  }

  #passedOver(from: number, to: number): void {
    this.counters.passed_over.gaps += 1;
    this.counters.passed_over.bytes += to - from;
    this.#lossLog.error(
      `Events of ${this.#parts.store.name} in ${String(to - from)} bytes of the journal are not stored, which are gone from it: what agents send again repairs it.`,
    );
  }

  async #pause(): Promise<void> {
    await pause(this.#parts.retryMs ?? RETRY_MS, this.#stopped.signal);
  }
}
