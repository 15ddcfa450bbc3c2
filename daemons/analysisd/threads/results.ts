import type { LateValue, OpenRecord } from '../../../lib/engine/alert/alert-record.js';
import type { CountedEvent, EventCounting, HourReport } from '../../../lib/engine/event-counting.js';
import type { CompiledRule } from '../../../lib/engine/rules/ruleset.js';
import { type Stream, STREAM_NAMES } from '../outputs.js';
import { ResultMemory } from './result-memory.js';

/*
 * Results of events, from the thread that analysed them to the place that brings them into the order of the journal. Numbers
 * and texts lie apart, both as they are written one after the other:
 *
 *   event     steps + 256 * number of records, place of the rule that fired + 1 or 0
 *   records:  stream + 8 when a new id begins with it + 16 * number of late values, bytes
 *             late values: bytes before it, kind
 */

/** Steps of `EventCounting` that the event came to. */
const COUNTED_FIREWALL = 1;
const COUNTED_STATISTICS = 2;

const RECORDS = 256;
const NEW_ID = 8;
const LATE = 16;

/** `offset` is the second part of an id. */
export type ResultGap = { readonly at: number; readonly late: LateValue | 'offset' };
/** A record in which late values are missing: a byte string, and their places in it. */
export type OpenResult = Pick<OpenRecord, 'text'> & { readonly gaps: readonly ResultGap[] };

const LATE_VALUES: readonly ResultGap['late'][] = ['id', 'offset', 'firedTimes'];

/** Writes results down; also counts in place of the engine's state, which is done where the results are read. */
export class ResultWriter implements EventCounting {
  #memory = new ResultMemory();
  #count = 0;
  #eventAt = 0;
  #isOpen = false;
  #isNewId = false;

  /** Events whose results are written. */
  get count(): number {
    return this.#count;
  }

  /** Whether results should be handed on. */
  get isFull(): boolean {
    return this.#memory.isFull;
  }

  /** Begins the results of an event. */
  open(): void {
    this.#eventAt = this.#memory.put(0);
    this.#memory.put(0);
    this.#isOpen = true;
    this.#isNewId = false;
  }

  /** Ends them. */
  close(): void {
    this.#count += 1;
    this.#isOpen = false;
  }

  begin(): HourReport | undefined {
    return undefined;
  }

  firewall(): void {
    this.#memory.add(this.#eventAt, COUNTED_FIREWALL);
  }

  statistics(): string | undefined {
    this.#memory.add(this.#eventAt, COUNTED_STATISTICS);
    return undefined;
  }

  /** @returns 0: what is shown is put in later */
  fired(rule: CompiledRule): number {
    this.#memory.add(this.#eventAt + 1, rule.ordinal + 1);
    return 0;
  }

  /** The next record has the id of its moment, and those behind it have the same. */
  newId(): void {
    this.#isNewId = true;
  }

  /** Adds a record of an output. */
  record(stream: Stream, { text, gaps }: OpenResult): void {
    const memory = this.#memory;
    memory.add(this.#eventAt, RECORDS);
    memory.put(STREAM_NAMES.indexOf(stream) + LATE * gaps.length + (this.#isNewId ? NEW_ID : 0));
    this.#isNewId = false;
    memory.put(text.length);
    for (const { at, late } of gaps) {
      memory.put(at);
      memory.put(LATE_VALUES.indexOf(late));
    }
    memory.text(text);
  }

  /**
   * Gives the results of all events that are closed, and begins anew. One that is open has no records yet.
   * @param next memory for what follows
   */
  take(next: ResultMemory): ResultMemory {
    const full = this.#memory;
    this.#memory = next;
    this.#count = 0;
    if (this.#isOpen) {
      const [steps = 0, fired = 0] = full.takeBack(2);
      this.#eventAt = next.put(steps);
      next.put(fired);
    }
    return full;
  }
}

/** Told of what comes of counting. */
export interface HappeningTarget {
  hourEnded(report: HourReport): void;
  /** The event that is being read set off a statistics alert. */
  statistics(text: string): void;
}

/** Takes records with what the place knows that brings results into order. */
export interface ResultTarget {
  /**
   * A record begins.
   * @param stream its place in `STREAM_NAMES`
   * @param bytes what its parts lie in
   * @param length of its parts together
   * @param gaps how many late values it has
   */
  beginRecord(stream: number, bytes: Buffer, length: number, gaps: number): void;
  /** Takes a part of the record: bytes `from` up to `to`, exclusive. */
  addBytes(from: number, to: number): void;
  /** Takes a late value. @param times how often the rule has fired */
  addLate(late: ResultGap['late'], times: number): void;
  /** The record is complete. */
  endRecord(): void;
  /** Late values are from here on those of an alert that is written now. */
  newId(receivedAt: number): void;
}

/** Reads results, in the order in which they were written. */
export class ResultReader {
  #memory = new ResultMemory();
  #at = 0;
  #byteAt = 0;
  #left = 0;

  /** Whether all results were read. */
  get isDone(): boolean {
    return this.#left === 0;
  }

  /** Numbers, and bytes of texts, that were read. */
  get place(): { readonly numbers: number; readonly bytes: number } {
    return { numbers: this.#at, bytes: this.#byteAt };
  }

  /** Goes on with these results. @param count events whose results they are */
  begin(count: number, memory: ResultMemory): void {
    this.#left = count;
    this.#memory = memory;
    this.#at = 0;
    this.#byteAt = 0;
  }

  /** Counts the next event and hands its records to the target. @param rules those of the ruleset */
  read(
    event: CountedEvent,
    counting: EventCounting,
    rules: readonly CompiledRule[],
    target: ResultTarget,
    happenings: HappeningTarget,
  ): void {
    const head = this.#number();
    const fired = this.#number();
    this.#left -= 1;
    const ended = counting.begin(event);
    if (ended !== undefined) happenings.hourEnded(ended);
    if ((head & COUNTED_FIREWALL) !== 0) counting.firewall();
    const told = (head & COUNTED_STATISTICS) === 0 ? undefined : counting.statistics();
    const rule = fired === 0 ? undefined : rules[fired - 1];
    const times = rule === undefined ? 0 : counting.fired(rule);
    if (told !== undefined) happenings.statistics(told);
    for (let records = Math.floor(head / RECORDS); records > 0; records -= 1) {
      this.#record(event.receivedAt, times, target);
    }
  }

  #number(): number {
    const value = this.#memory.number(this.#at);
    this.#at += 1;
    return value;
  }

  #record(receivedAt: number, times: number, target: ResultTarget): void {
    const head = this.#number();
    const length = this.#number();
    if (head % LATE >= NEW_ID) target.newId(receivedAt);
    const { texts, textsAt } = this.#memory;
    const start = textsAt + this.#byteAt;
    let gaps = Math.floor(head / LATE);
    target.beginRecord(head % NEW_ID, texts, length, gaps);
    let from = start;
    for (; gaps > 0; gaps -= 1) {
      const to = start + this.#number();
      target.addBytes(from, to);
      target.addLate(LATE_VALUES[this.#number()] ?? 'id', times);
      from = to;
    }
    target.addBytes(from, start + length);
    target.endRecord();
    this.#byteAt += length;
  }
}
