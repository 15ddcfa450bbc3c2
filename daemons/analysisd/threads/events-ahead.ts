import type { ReceivedEvent } from '../../../lib/bus/bus-event.js';
import type { Counters } from '../counters.js';
import { isNew } from '../pipeline/event-writer.js';
import type { RecordedEntry } from '../pipeline/journal-record.js';
import type { TakenEvents } from '../pipeline/taken-events.js';
import type { AnalysisThreads } from './analysis-threads.js';
import { NOBODY, type UnitPart } from './units.js';

/** Events that go to the threads together: a message to a thread costs as much as some events. */
const EVENTS_PER_UNIT = 512;
/** Events on their way, and bytes of their messages: what threads have in hand, and what a checkpoint waits for. */
const MOST_EVENTS = 8192;
const MOST_BYTES = 4 * 1024 * 1024;

/** What is done when a unit is. */
export type Done = {
  /** The record that comes next, or the one at hand, and events of it that are done. */
  readonly position: number;
  readonly done: number;
  readonly events: number;
  readonly bytes: number;
};

export type EventsAheadParts = {
  readonly threads: AnalysisThreads;
  readonly taken: TakenEvents;
  readonly counters: Counters;
};

/**
 * Hands the events of the journal to the threads, ahead of what is done. Which of them were taken before is decided here, in
 * their order, so that what is known of it is ahead, too: checkpoints wait until everything is done.
 */
export class EventsAhead {
  readonly #parts: EventsAheadParts;
  #collected: UnitPart[] = [];
  #owners: number[] = [];
  #times: number[] = [];
  #queues: string[] = [];
  #bytes = 0;
  #end = { position: 0, done: 0 };
  /** Told when the events of a unit are done. */
  onDone: (done: Done) => void = () => {};

  constructor(parts: EventsAheadParts) {
    this.#parts = parts;
  }

  get threads(): AnalysisThreads {
    return this.#parts.threads;
  }

  /** Events that are not done. */
  get pending(): number {
    return this.#owners.length + this.#parts.threads.pending;
  }

  /** Whether nothing should be taken before more is done. */
  get isFull(): boolean {
    const { pending, pendingBytes } = this.#parts.threads;
    return pending >= MOST_EVENTS || pendingBytes >= MOST_BYTES;
  }

  /** Takes events `from` up to `to`, exclusive, of a record. */
  take(entry: RecordedEntry, content: readonly ReceivedEvent[], from: number, to: number): void {
    const { threads, taken, counters } = this.#parts;
    if (entry.payload === undefined) throw new Error('The bytes of a record were not kept.');
    for (let index = from; index < to; index += 1) {
      const event = content[index];
      if (event === undefined) break;
      this.#times.push(event.receivedAt);
      this.#queues.push(event.queue);
      this.#owners.push(isNew(event, taken, counters) ? threads.ownerOf(event) : NOBODY);
      this.#bytes += event.message.length;
    }
    this.#collected.push({ payload: entry.payload, from, count: to - from });
    this.#end = to < content.length ? { position: entry.position, done: to } : { position: entry.next, done: 0 };
    if (this.#owners.length >= EVENTS_PER_UNIT || this.#bytes >= MOST_BYTES) this.send();
  }

  /** Hands on what was taken. */
  send(): void {
    const events = this.#owners.length;
    if (events === 0) return;
    const bytes = this.#bytes;
    const done: Done = { ...this.#end, events, bytes };
    const collected = this.#collected;
    const owners = Uint8Array.from(this.#owners);
    const times = Float64Array.from(this.#times);
    const queues = this.#queues;
    this.#owners = [];
    this.#times = [];
    this.#queues = [];
    this.#collected = [];
    this.#bytes = 0;
    const onDone = (): void => {
      this.onDone(done);
    };
    this.#parts.threads.dispatch(collected, { owners, times, queues, bytes, onDone });
  }

  /** Resolves when more is done, at once when nothing is pending. @throws Error when a thread has ended */
  async moved(): Promise<void> {
    this.send();
    await this.#parts.threads.moved();
  }

  /** Waits until everything is done. @throws Error when a thread has ended */
  async settle(): Promise<void> {
    while (this.pending > 0) await this.moved();
  }
}
