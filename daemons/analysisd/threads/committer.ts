import type { HourReport } from '../../../lib/engine/event-counting.js';
import type { Analysis } from '../analysis.js';
import type { Counters } from '../counters.js';
import type { AppendingOutputs } from '../pipeline/appending-outputs.js';
import { incomingEvent } from '../pipeline/incoming-event.js';
import { answerTo, heed } from './answering.js';
import type { OutputStages } from './output-stages.js';
import type { HappeningTarget } from './results.js';
import type { ThreadHandle } from './thread-handle.js';
import { NOBODY, type Unit } from './units.js';
import { mostEventsAhead } from './units-ahead.js';

/** A unit whose events wait for their results. */
export type PendingUnit = {
  readonly unit: Unit;
  /** Bytes of the records they lie in. */
  readonly bytes: number;
  /** All of its events are done. */
  readonly onDone: () => void;
};

export type CommitterParts = {
  readonly analysis: Analysis;
  readonly counters: Counters;
  /** Writes what sets itself off here. */
  readonly outputs: AppendingOutputs;
  /** Where records of threads are put together. */
  readonly stages: OutputStages;
  readonly threads: readonly ThreadHandle[];
};

/**
 * Brings what threads make of events into the order of the journal: counts, gives alerts their ids, appends to the outputs,
 * and answers what a thread asks about all agents when the turn has come to its event. As the earliest event that is not done
 * waits for nobody, all of them are done in the end.
 */
export class Committer implements HappeningTarget {
  readonly #parts: CommitterParts;
  readonly #units: PendingUnit[] = [];
  /** Events of the first unit that are done. */
  #at = 0;
  #keysAreFull = false;
  /** Events that are not done, and bytes of units that have some. */
  pending = 0;
  pendingBytes = 0;
  /** Questions that threads waited for. */
  questions = 0;
  /** The event whose turn it is. */
  readonly #event = { receivedAt: 0, queue: '' };

  constructor(parts: CommitterParts) {
    this.#parts = parts;
  }

  /** Expects the results of a unit, behind those it expects already. */
  expect(unit: PendingUnit): void {
    this.#units.push(unit);
    this.pending += unit.unit.count;
    this.pendingBytes += unit.bytes;
  }

  /** Does what can be done by now. @returns whether anything was */
  advance(): boolean {
    const before = this.pending;
    try {
      this.#advance();
    } finally {
      this.#parts.stages.drain();
    }
    return this.pending < before;
  }

  #advance(): void {
    for (let unit = this.#units[0]; unit !== undefined; unit = this.#units[0]) {
      const { owners } = unit.unit;
      while (this.#at < owners.length) {
        const owner = owners[this.#at] ?? NOBODY;
        const thread = owner === NOBODY ? undefined : this.#parts.threads[owner];
        if (thread !== undefined && !this.#commit(unit.unit, thread)) return;
        this.#at += 1;
        this.pending -= 1;
      }
      this.#units.shift();
      this.#at = 0;
      this.pendingBytes -= unit.bytes;
      unit.onDone();
    }
  }

  /** Does what a thread told beside its events, while nothing is pending. */
  heedAside(thread: ThreadHandle): void {
    for (let word = thread.nextWord(); word !== undefined; word = thread.nextWord()) {
      if (word.kind !== 'notice') throw new Error('A thread asks, or has results, without an event.');
      heed(word.notice, this.#parts.analysis.shared);
    }
  }

  /** To be called when nothing is pending and other keys may have come to be known: tells threads whether to trust theirs. */
  watchKeys(): void {
    this.#keysAreFull = false;
    this.#distrustKeys();
  }

  hourEnded(report: HourReport): void {
    this.#parts.analysis.hooks.hourEnded?.(report);
  }

  statistics(text: string): void {
    const [first] = this.#units;
    if (first === undefined) return;
    this.#parts.stages.drain();
    this.#parts.outputs.statistics(incomingEvent(first.unit.event(this.#at)), text);
  }

  /** @returns false when the thread is not so far */
  #commit({ times, queues }: Unit, thread: ThreadHandle): boolean {
    const { analysis, counters } = this.#parts;
    const { results } = thread;
    while (results.isDone) {
      const word = thread.nextWord();
      if (word === undefined) return false;
      if (word.kind === 'results') {
        thread.begin(word.chunk);
        counters.add(word.chunk.counted);
      } else if (word.kind === 'notice') {
        heed(word.notice, analysis.shared);
      } else {
        this.questions += 1;
        const answer = answerTo(word.question, analysis.shared);
        if (word.question.kind === 'first-sight') this.#distrustKeys();
        thread.answer(answer);
      }
    }
    const { state, ruleset } = analysis.engine;
    const event = this.#event;
    event.receivedAt = times[this.#at] ?? 0;
    event.queue = String.fromCharCode(queues[this.#at] ?? 0);
    results.read(event, state.counting, ruleset.rules.rules, this.#parts.stages, this);
    return true;
  }

  /**
   * Has threads ask for each key once as few can be added before one is forgotten as events can be on their way: no thread may
   * take for known what is forgotten by the time of its event.
   */
  #distrustKeys(): void {
    const { analysis, threads } = this.#parts;
    if (this.#keysAreFull || analysis.engine.state.firstTimeSeen.hasRoomFor(mostEventsAhead(threads.length))) return;
    this.#keysAreFull = true;
    for (const thread of threads) thread.distrustKeys();
  }
}
