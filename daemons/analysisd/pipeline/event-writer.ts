import type { EventHead } from '../../../lib/journal/event-heads.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { Analysis } from '../analysis.js';
import type { Counters } from '../counters.js';
import { AppendingOutputs } from './appending-outputs.js';
import { EventJudge } from './event-judge.js';
import type { PreparedSource } from './incoming-event.js';
import type { RecordedEvents } from './journal-record.js';
import { PreparedSources } from './prepared-sources.js';
import type { TakenEvent, TakenEvents } from './taken-events.js';

/** Takes one event after the other through the engine and appends what comes of it to the outputs; nothing is flushed. */
export class EventWriter {
  readonly #taken: TakenEvents;
  readonly #counters: Counters;
  readonly #judge: EventJudge;
  readonly #known = new PreparedSources();
  #record: RecordedEvents | undefined;
  /** Of the record, as far as they were needed. */
  readonly #sources: (PreparedSource | undefined)[] = [];
  readonly #head: EventHead = { stream: '', sequence: 0, receivedAt: 0, idempotency: undefined };

  constructor(analysis: Analysis, taken: TakenEvents, counters: Counters, logger: Logger) {
    this.#taken = taken;
    this.#counters = counters;
    this.#judge = new EventJudge(analysis, new AppendingOutputs(analysis, counters), counters, logger);
  }

  /** Begins with the events of a record. */
  begin(record: RecordedEvents): void {
    this.#record = record;
    this.#sources.length = 0;
  }

  /** Takes an event of the record. Never throws, whatever it holds. */
  take(index: number): void {
    const record = this.#record;
    if (record === undefined) throw new Error('There is no record.');
    const { content, payload } = record;
    const head = this.#head;
    content.put(index, head);
    const bytes = content.messageBytes[index] ?? 0;
    if (!isNew(head, bytes, this.#taken, this.#counters)) return;
    const at = content.messageAt[index] ?? 0;
    const source = content.sources[index] ?? 0;
    const from = this.#sources[source] ?? this.#prepare(record, source);
    this.#judge.judgeFrom(from, payload.toString('latin1', at, at + bytes), head.receivedAt);
  }

  #prepare(record: RecordedEvents, source: number): PreparedSource {
    const prepared = this.#known.of(record, source);
    this.#sources[source] = prepared;
    return prepared;
  }
}

/** Counts an event and notes it; false when it was analysed before. @param bytes of its message */
export function isNew(event: TakenEvent, bytes: number, taken: TakenEvents, counters: Counters): boolean {
  counters.eventsReceived += 1;
  counters.bytesReceived += bytes;
  if (taken.take(event)) return true;
  counters.duplicates += 1;
  return false;
}
