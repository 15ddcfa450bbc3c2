import { setImmediate as nextTurn } from 'node:timers/promises';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { Analysis } from '../analysis.js';
import type { Configuration } from '../configuration.js';
import type { EpsLimiter } from '../eps-limiter.js';
import type { EventsAhead } from '../threads/events-ahead.js';
import type { EventWriter } from './event-writer.js';
import type { JournalFeed } from './journal-feed.js';
import { isEvents, type RecordedControl, type RecordedEntry, type RecordedEvents } from './journal-record.js';
import { Patience, StoppedError } from './patience.js';

/** Requests are answered between slices of this many events, however large a batch is. */
const EVENTS_PER_TURN = 64;
/** The same in milliseconds: an event that uses up its budget takes tens of them, and heartbeats must not wait for 64. */
const TURN_MS = 20;
/** Alerts are written when nothing more is waiting, and at the latest after this many events. */
const EVENTS_PER_FLUSH = 1024;
/** The same in message bytes: what is written at once is a few times that, and the event loop waits for it. */
const BYTES_PER_FLUSH = 1024 * 1024;
/** Credits come back by the second. */
const CREDIT_WAIT_MS = 100;
/** A record that cannot be read is tried again after this time; a checkpoint that must be made, too. */
const RETRY_MS = 1000;
/** What two checkpoints in a row hold is written after the second, which the third waits for: more are of no use at once. */
const CHECKPOINTS_TO_EMPTY = 3;

/** How far the analysis is: the record it is in, or comes to next, and how many events of it are done. */
export type Progress = { readonly position: number; readonly done: number };

export type AnalyzerParts = {
  readonly analysis: Analysis;
  readonly feed: JournalFeed;
  readonly writer: EventWriter;
  /** Has threads analyse events instead of the writer. */
  readonly ahead?: EventsAhead;
  readonly configuration: Pick<Configuration, 'compiledFor'>;
  readonly logger: Logger;
  readonly epsLimiter: EpsLimiter | undefined;
  /** Wall clock, epoch milliseconds: for the EPS limit only, everything else goes by the journal. */
  readonly now: () => number;
  readonly start: Progress;
  /** `isSettled` of the checkpoint it starts from; false without one. */
  readonly startIsSettled: boolean;
  /** Where the journal ended at the start: what is before it may have been analysed and written already. */
  readonly replayEnd: number;
  /** Resolves when the first event may be analysed: it is asked once, when one is there. */
  readonly ready: () => Promise<unknown>;
  /** Makes a checkpoint now; false when that failed. */
  readonly checkpoint: () => Promise<boolean>;
  /** Alerts have reached the file system. */
  readonly onWritten: () => void;
};

/**
 * Takes the records of the journal through the engine, one after the other. What it does depends on nothing but them and
 * the checkpoint it started from, so that doing it again after a crash gives the same bytes.
 */
export class Analyzer {
  readonly #parts: AnalyzerParts;
  readonly #patience: Patience;
  readonly #readLog: LimitedLogger;
  #position: number;
  #done: number;
  /** Between two events or records; not while files are being changed. */
  #steady = true;
  #replaying = true;
  #isSettled = true;
  #sinceTurn = 0;
  /** When the turn began, by the monotonic clock. */
  #turnAt = performance.now();
  #unflushed = 0;
  #unflushedBytes = 0;
  #stopping = false;
  #isReady = false;
  #running: Promise<void> = Promise.resolve();
  /** What waits for a moment at which nothing is on its way. */
  #restful: (() => void)[] = [];
  /** Epoch milliseconds of the record at hand; undefined when none is waiting. */
  #recordTime: number | undefined;
  /** Events analysed since the start, and those of them that may have been before it. */
  analysed = 0;
  replayed = 0;

  constructor(parts: AnalyzerParts) {
    this.#parts = parts;
    this.#patience = new Patience(parts.logger);
    this.#readLog = parts.logger.limited();
    this.#position = parts.start.position;
    this.#done = parts.start.done;
    if (parts.ahead === undefined) return;
    parts.ahead.onDone = ({ position, done, events, bytes }) => {
      this.#position = position;
      this.#done = done;
      this.#count(events, bytes);
    };
  }

  /** Does something, soon, at a moment at which no event is on its way: everything that is remembered belongs together then. */
  atRest<T>(action: () => T): Promise<T> {
    const { ahead } = this.#parts;
    if (ahead === undefined || ahead.pending === 0) return Promise.resolve(action());
    return new Promise((resolve) => {
      this.#restful.push(() => {
        resolve(action());
      });
    });
  }

  /** How far it is; undefined while it cannot be said, as files are being changed. */
  get progress(): Progress | undefined {
    return this.#steady ? { position: this.#position, done: this.#done } : undefined;
  }

  /**
   * Whether a checkpoint of now is good beside the one before it. False for the first one after outputs were opened: a start
   * from it makes another before it writes, or the one before it would lead to files that are longer than it knows.
   */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Position of the record at hand, or the one that comes next. */
  get position(): number {
    return this.#position;
  }

  /** Whether what it analyses may have been analysed before the start. */
  get replaying(): boolean {
    return this.#replaying;
  }

  /** When the record at hand was made, epoch milliseconds; undefined when nothing waits. */
  get recordTime(): number | undefined {
    return this.#recordTime;
  }

  /** Events analysed since the start whose alerts the file system has. */
  get written(): number {
    return this.analysed - this.#unflushed;
  }

  /** Why alerts cannot be written at present. */
  get blocked(): string | undefined {
    return this.#patience.reason;
  }

  /** Begins. @param onFailure gets what should never be thrown */
  start(onFailure: (error: unknown) => void): void {
    this.#running = this.#run().catch((error: unknown) => {
      if (!(error instanceof StoppedError)) onFailure(error);
    });
  }

  /** Ends between two events; what is left of the journal is analysed after the next start. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#patience.stop();
    this.#parts.feed.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    if (!this.#parts.startIsSettled) await this.#mustCheckpoint();
    while (!this.#stopping) {
      if (this.#restful.length > 0) await this.#settle();
      const entry = await this.#next();
      this.#recordTime = entry?.writtenAt;
      if (this.#replaying && (entry === undefined || entry.position >= this.#parts.replayEnd)) await this.#endReplay();
      if (entry === undefined) {
        await this.#wait();
        continue;
      }
      if (!this.#isReady) await this.#parts.ready();
      this.#isReady = true;
      await this.#take(entry);
    }
    await this.#settle();
  }

  /** Waits for another record, and meanwhile for events that are on their way. */
  async #wait(): Promise<void> {
    const { ahead, feed } = this.#parts;
    if (ahead !== undefined && ahead.pending > 0) {
      await Promise.race([feed.wait(), ahead.moved()]);
      if (ahead.pending > 0 && !this.#isFlushDue) return;
    }
    await this.#flush();
    if ((ahead?.pending ?? 0) === 0 && this.#restful.length === 0 && !this.#stopping) await feed.wait();
  }

  /** Waits until no event is on its way, and does what waits for that. */
  async #settle(): Promise<void> {
    await this.#parts.ahead?.settle();
    const restful = this.#restful;
    this.#restful = [];
    for (const action of restful) action();
  }

  async #next(): Promise<RecordedEntry | undefined> {
    for (;;) {
      try {
        return this.#parts.feed.next();
      } catch (error) {
        this.#readLog.error(`The journal cannot be read on, trying again: ${describeError(error)}`);
        await this.#patience.pause(RETRY_MS);
      }
    }
  }

  async #take(entry: RecordedEntry): Promise<void> {
    const { ahead } = this.#parts;
    if (ahead !== undefined && isEvents(entry)) {
      await this.#hand(entry, ahead);
      return;
    }
    await this.#settle();
    // The first record may have been done in part before the checkpoint.
    if (entry.position !== this.#position) this.#done = 0;
    this.#position = entry.position;
    if (isEvents(entry)) {
      await this.#takeEvents(entry);
      if (this.#done < entry.content.count) return;
    } else {
      await this.#obey(entry);
    }
    this.#position = entry.next;
    this.#done = 0;
    await this.#checkpointIfDue();
  }

  async #checkpointIfDue(): Promise<void> {
    const { analysis, checkpoint } = this.#parts;
    if (analysis.checkpointDue) await checkpoint();
    await this.#makeRoom();
  }

  /** Hands the events of a record to threads, and waits while they have enough. */
  async #hand(entry: RecordedEvents, ahead: EventsAhead): Promise<void> {
    const { analysis, epsLimiter, now } = this.#parts;
    const { count } = entry.content;
    let from = entry.position === this.#position && ahead.pending === 0 ? this.#done : 0;
    while (from < count && !this.#stopping) {
      let to = count;
      if (epsLimiter !== undefined && !this.#replaying) {
        await this.#credit(epsLimiter);
        for (to = from + 1; to < count && epsLimiter.take(Math.floor(now() / 1000));) to += 1;
      }
      ahead.take(entry, from, to);
      from = to;
      await nextTurn();
      while (ahead.isFull) await ahead.moved();
      if (this.#isFlushDue) await this.#flush();
      if (!analysis.checkpointDue && !analysis.isFull) continue;
      await this.#settle();
      await this.#checkpointIfDue();
    }
  }

  /** Makes checkpoints until less waits for them. A disk that does not take what they let go is not driven by more of them. */
  async #makeRoom(): Promise<void> {
    for (let made = 1; this.#parts.analysis.isFull; made += 1) {
      await this.#mustCheckpoint();
      if (made >= CHECKPOINTS_TO_EMPTY && this.#parts.analysis.isFull) await this.#patience.pause(RETRY_MS);
    }
  }

  async #takeEvents(entry: RecordedEvents): Promise<void> {
    const { writer, epsLimiter } = this.#parts;
    const { count: all, messageBytes } = entry.content;
    writer.begin(entry);
    for (;;) {
      const from = this.#done;
      const end = Math.min(all, from + EVENTS_PER_TURN - this.#sinceTurn);
      while (this.#done < end && !this.#isTurnOver && this.#unflushedBytes < BYTES_PER_FLUSH) {
        if (epsLimiter !== undefined && !this.#replaying) await this.#credit(epsLimiter);
        writer.take(this.#done);
        this.#count(1, messageBytes[this.#done] ?? 0);
        this.#done += 1;
      }
      this.#sinceTurn += this.#done - from;
      if (this.#isFlushDue) await this.#flush();
      if (this.#sinceTurn >= EVENTS_PER_TURN || this.#isTurnOver) {
        await nextTurn();
        this.#sinceTurn = 0;
        this.#turnAt = performance.now();
      }
      if (this.#done >= all || this.#stopping) return;
    }
  }

  #count(events: number, bytes: number): void {
    this.analysed += events;
    if (this.#replaying) this.replayed += events;
    this.#unflushed += events;
    this.#unflushedBytes += bytes;
  }

  get #isFlushDue(): boolean {
    return this.#unflushed >= EVENTS_PER_FLUSH || this.#unflushedBytes >= BYTES_PER_FLUSH;
  }

  get #isTurnOver(): boolean {
    return performance.now() - this.#turnAt >= TURN_MS;
  }

  async #obey({ content: control, writtenAt, next }: RecordedControl): Promise<void> {
    const { analysis, configuration } = this.#parts;
    switch (control.kind) {
      case 'rotation':
        await this.#change(() => {
          analysis.rotate(new Date(writtenAt));
        });
        return;
      case 'stored-log':
        analysis.storeLog(control.stored);
        return;
      case 'agents-removed':
        this.#steady = false;
        for (const id of analysis.forgetAgents(control.removed)) await this.#parts.ahead?.threads.forgetAgent(id);
        this.#position = next;
        this.#done = 0;
        this.#steady = true;
        return;
      case 'configuration': {
        const compiled = configuration.compiledFor(control.inForce);
        const reopens = analysis.reopensFor(control.inForce);
        const threads = this.#parts.ahead?.threads;
        this.#steady = false;
        await threads?.takeBack();
        await this.#patience.until(() => {
          analysis.configure(control.inForce, compiled.ruleset, new Date(writtenAt));
        });
        await threads?.begin(analysis.threadConfiguration(compiled));
        this.#steady = true;
        if (!reopens) return;
        // How long the files were that are open from here on is known by a checkpoint only: nothing may be written before
        // it is there, nor before the one that takes its place when it turns out to be damaged.
        this.#position = next;
        this.#done = 0;
        this.#isSettled = false;
        await this.#mustCheckpoint();
        this.#isSettled = true;
        await this.#mustCheckpoint();
      }
    }
  }

  /** Changes files; a checkpoint made in the middle of it would hold a part. */
  async #change(action: () => void): Promise<void> {
    this.#steady = false;
    await this.#patience.until(action);
    this.#steady = true;
  }

  /**
   * What may have been written before the start is there now. Whole records beyond it are kept, so where the files end is
   * known by the files alone until a checkpoint tells it, too.
   */
  async #endReplay(): Promise<void> {
    await this.#settle();
    await this.#flush();
    await this.#change(() => {
      this.#parts.analysis.endReplay();
    });
    this.#replaying = false;
    await this.#mustCheckpoint();
  }

  async #mustCheckpoint(): Promise<void> {
    while (!(await this.#parts.checkpoint())) await this.#patience.pause(RETRY_MS);
  }

  async #flush(): Promise<void> {
    if (this.#unflushed === 0) return;
    await this.#patience.until(() => {
      this.#parts.analysis.flush();
    });
    this.#unflushed = 0;
    this.#unflushedBytes = 0;
    this.#parts.onWritten();
  }

  /** Waits for a credit of the EPS limit; the journal grows meanwhile, and what is taken by now is written. */
  async #credit(limiter: EpsLimiter): Promise<void> {
    if (limiter.take(Math.floor(this.#parts.now() / 1000))) return;
    await this.#parts.ahead?.settle();
    await this.#flush();
    while (!limiter.take(Math.floor(this.#parts.now() / 1000))) await this.#patience.pause(CREDIT_WAIT_MS);
  }
}
