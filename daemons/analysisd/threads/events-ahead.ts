import type { EventHead, EventHeads } from '../../../lib/journal/event-heads.js';
import type { Counters } from '../counters.js';
import { isNew } from '../pipeline/event-writer.js';
import type { RecordedEvents } from '../pipeline/journal-record.js';
import type { TakenEvents } from '../pipeline/taken-events.js';
import type { AnalysisThreads } from './analysis-threads.js';
import { UnitMemories } from './unit-memories.js';
import { NOBODY, UnitBuilder } from './units.js';
import { BYTES_PER_THREAD, EVENTS_PER_THREAD, UNITS_AHEAD } from './units-ahead.js';

/** What is done when a unit is. */
export type Done = {
  /** The record that comes next, or the one at hand, and events of it that are done. */
  readonly position: number;
  readonly done: number;
  readonly events: number;
  /** Of their messages. */
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
  readonly #builder = new UnitBuilder();
  readonly #memories = new UnitMemories(UNITS_AHEAD);
  readonly #head: EventHead = { stream: '', sequence: 0, receivedAt: 0, idempotency: undefined };
  /** Threads by source of the record at hand, as far as they were looked up. */
  readonly #ownersBySource: number[] = [];
  readonly #eventsPerUnit: number;
  readonly #bytesPerUnit: number;
  #end = { position: 0, done: 0 };
  /** Told when the events of a unit are done. */
  onDone: (done: Done) => void = () => {};

  constructor(parts: EventsAheadParts) {
    this.#parts = parts;
    this.#eventsPerUnit = EVENTS_PER_THREAD * parts.threads.count;
    this.#bytesPerUnit = BYTES_PER_THREAD * parts.threads.count;
  }

  get threads(): AnalysisThreads {
    return this.#parts.threads;
  }

  /** Events that are not done. */
  get pending(): number {
    return this.#builder.count + this.#parts.threads.pending;
  }

  /** Whether nothing should be taken before more is done. */
  get isFull(): boolean {
    const { pending, pendingBytes } = this.#parts.threads;
    return pending >= UNITS_AHEAD * this.#eventsPerUnit || pendingBytes >= UNITS_AHEAD * this.#bytesPerUnit;
  }

  /** Takes events `from` up to `to`, exclusive, of a record. */
  take({ payload, content, position, next }: RecordedEvents, from: number, to: number): void {
    const { taken, counters } = this.#parts;
    const builder = this.#builder;
    const head = this.#head;
    this.#ownersBySource.length = 0;
    builder.add(payload, content, from, to, (index) => {
      content.put(index, head);
      const isNewEvent = isNew(head, content.messageBytes[index] ?? 0, taken, counters);
      return isNewEvent ? this.#ownerOf(payload, content, content.sources[index] ?? 0) : NOBODY;
    });
    this.#end = to < content.count ? { position, done: to } : { position: next, done: 0 };
    if (builder.count >= this.#eventsPerUnit || builder.recordBytes >= this.#bytesPerUnit) this.send();
  }

  /** Hands on what was taken. */
  send(): void {
    const { count: events, messageBytes, recordBytes } = this.#builder;
    if (events === 0) return;
    const done: Done = { ...this.#end, events, bytes: messageBytes };
    const unit = this.#builder.build((needed) => this.#memories.take(needed));
    const onDone = (): void => {
      this.#memories.giveBack(unit.memory);
      this.onDone(done);
    };
    this.#parts.threads.dispatch({ unit, bytes: recordBytes, onDone });
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

  #ownerOf(payload: Buffer, heads: EventHeads, source: number): number {
    const known = this.#ownersBySource[source];
    if (known !== undefined) return known;
    const owner = this.#parts.threads.ownerOf(heads, payload, source);
    this.#ownersBySource[source] = owner;
    return owner;
  }
}
