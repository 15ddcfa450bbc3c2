import { pause } from '../../../lib/async/pause.js';
import { within } from '../../../lib/daemon/daemon-parts.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import type { StreamedAlert } from '../../../lib/output/alert-feed.js';
import type { RecordPosition } from '../../../lib/output/record-stream.js';
import type { Change } from '../../../lib/store/commit-queue.js';
import type { AlertReceiver, Delivery } from './alert-receiver.js';
import type { AlertSource } from './alert-source.js';
import type { OutputStore } from './output-store.js';

export type AlertConsumerParts = {
  /** Identifies the output for as long as it is configured: its position is kept under it. */
  readonly key: string;
  /** As logs and statistics call it: `syslog 10.0.0.1:514/udp`. */
  readonly name: string;
  readonly feed: AlertSource;
  readonly store: OutputStore;
  readonly receiver: AlertReceiver;
  readonly logger: Logger;
  /** Replaces the pause between two tries: tests. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** Figures of one output. */
export type ConsumerStats = {
  /** Alerts that went out. */
  readonly delivered: number;
  /** Tries that failed and were, or will be, repeated. */
  readonly failed: number;
  /** Alerts nobody takes, which were passed over. */
  readonly rejected: number;
  /** False from a failure to the next success. */
  readonly available: boolean;
  readonly lag: {
    /** Bytes of the stream that it has not dealt with. */
    readonly bytes: number;
    /** Age of the first alert that it has not dealt with; 0 at the end of the stream. */
    readonly seconds: number;
  };
};

/** Pauses between tries: the first, and the longest. Each is twice the one before. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Up to so much of a pause is added at random, so that outputs do not all come back at the same moment. */
const JITTER = 0.25;
/** A position behind alerts that the output did not want is written no more often than this: nothing is sent twice by it. */
const IDLE_COMMIT_MS = 1000;
/** Most alerts of a batch: so many may go out twice when the process ends between their delivery and the note of it. */
const USUAL_BATCH = 500;
/** How long a stop waits for a delivery that was told to end. */
const STOP_MS = 3000;

/**
 * Brings alerts to one output: in order, from a position of its own that it keeps once they are delivered, again and again
 * while the receiver fails. Nothing is skipped; an alert goes out twice only when the process ends between its delivery
 * and the note of it (promises.md).
 */
export class AlertConsumer {
  readonly #parts: AlertConsumerParts;
  readonly #stopped = new AbortController();
  readonly #rejections: LimitedLogger;
  readonly #storeTrouble: LimitedLogger;
  #working: Promise<void> = Promise.resolve();
  /** Dealt with, and what of it is on the disk. */
  #position: RecordPosition = { file: '', offset: 0 };
  #kept: RecordPosition = { file: '', offset: 0 };
  #keptAt = -Infinity;
  /** When the first alert that is not dealt with was written, epoch milliseconds. */
  #waitingSince: number | undefined;
  #delivered = 0;
  #failed = 0;
  #rejected = 0;
  /** Tries that failed since the last success. */
  #failuresInRow = 0;

  constructor(parts: AlertConsumerParts) {
    this.#parts = parts;
    this.#rejections = parts.logger.limited();
    this.#storeTrouble = parts.logger.limited();
  }

  /** Begins at its position, or at the end of the stream when it has none yet. @throws StoreError */
  async start(): Promise<void> {
    const { store, key, feed } = this.#parts;
    const known = store.position(key);
    this.#position = known ?? (await feed.end());
    if (known === undefined) await store.keep(key, this.#position);
    this.#kept = this.#position;
    this.#working = this.#run();
  }

  /** Ends within a few seconds, whatever the receiver does. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await within(STOP_MS, this.#working);
    await this.#keep(this.#position).catch(() => {
      // What was left out is looked at once more after the next start.
    });
    await this.#parts.feed.close?.(this.#position);
    await this.#parts.receiver.close?.();
  }

  /** File of the first alert that is not dealt with, relative to `logs/alerts`; empty before any was written. */
  get file(): string {
    return this.#position.file;
  }

  stats(): ConsumerStats & Readonly<Record<string, unknown>> {
    const bytes = this.#parts.feed.bytesAfter(this.#position);
    const since = this.#waitingSince;
    return {
      delivered: this.#delivered,
      failed: this.#failed,
      rejected: this.#rejected,
      available: this.#failuresInRow === 0,
      lag: { bytes, seconds: since === undefined ? 0 : Math.max(0, Math.round((Date.now() - since) / 1000)) },
      ...this.#parts.receiver.stats?.(),
    };
  }

  async #run(): Promise<void> {
    const { feed } = this.#parts;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const mark = feed.mark();
      try {
        // After a failure there may be more behind the alert that failed.
        const { alerts, next } = await feed.read(this.#position, this.#failuresInRow > 0);
        if (alerts.length > 0) {
          await this.#deliverAll(alerts);
          continue;
        }
        const moved = next.file !== this.#position.file;
        this.#position = next;
        this.#waitingSince = undefined;
        await this.#keepSometimes();
        if (moved) continue;
      } catch (error) {
        if (signal.aborted) return;
        this.#storeTrouble.error(`Alerts for '${this.#parts.name}' wait: ${describeError(error)}`);
        await this.#sleep(FIRST_PAUSE_MS);
        continue;
      }
      await feed.changed(mark, signal);
    }
  }

  /** In batches that suit the receiver, until one fails. */
  async #deliverAll(alerts: readonly StreamedAlert[]): Promise<void> {
    const { mostAlerts = USUAL_BATCH } = this.#parts.receiver;
    for (let at = 0; at < alerts.length && !this.#stopped.signal.aborted; at += mostAlerts) {
      // In a cluster another node delivers it when this one stood still for too long.
      if (this.#parts.feed.holds?.() === false) return;
      await this.#deliver(alerts.slice(at, at + mostAlerts));
      if (this.#failuresInRow > 0) return;
    }
  }

  /** One try; what is left of the batch is read again. */
  async #deliver(batch: readonly StreamedAlert[]): Promise<void> {
    const { signal } = this.#stopped;
    this.#waitingSince = waitsSince(batch);
    const attempt = new Attempt(batch, this.#parts.receiver, signal, {
      settle: (position, settlement) => this.#settle(position, settlement),
      sent: (count) => {
        this.#delivered += count;
      },
      rejected: (reason) => {
        this.#reject(reason);
      },
    });
    const failure = await attempt.run();
    if (signal.aborted) return;
    if (failure === undefined) this.#succeeded();
    else await this.#failedWith(failure.error);
  }

  /**
   * What a receiver has dealt with; at once on the disk when something went out.
   * @throws StoreError when changes cannot be made. A position alone that cannot be kept holds nothing up: it is in memory
   */
  async #settle(position: RecordPosition, { sent, changes }: Settlement): Promise<void> {
    if (changes.length > 0) {
      await this.#keep(position, changes);
      this.#position = position;
      return;
    }
    this.#position = position;
    if (sent) await this.#keep(position).catch((error: unknown) => this.#storeFailed(error));
    else await this.#keepSometimes();
  }

  #storeFailed(error: unknown): void {
    this.#storeTrouble.error(`How far '${this.#parts.name}' is cannot be kept: ${describeError(error)}`);
  }

  async #keepSometimes(): Promise<void> {
    if (performance.now() - this.#keptAt < IDLE_COMMIT_MS) return;
    await this.#keep(this.#position).catch((error: unknown) => this.#storeFailed(error));
  }

  async #keep(position: RecordPosition, changes: readonly Change[] = []): Promise<void> {
    const same = position.file === this.#kept.file && position.offset === this.#kept.offset;
    if (same && changes.length === 0) return;
    await this.#parts.store.keep(this.#parts.key, position, changes);
    this.#kept = position;
    this.#keptAt = performance.now();
  }

  #reject(reason: string): void {
    this.#rejected += 1;
    this.#rejections.warn(`An alert for '${this.#parts.name}' was passed over: ${reason}`);
  }

  #succeeded(): void {
    if (this.#failuresInRow > 0) this.#parts.logger.info(`Alerts are delivered to '${this.#parts.name}' again.`);
    this.#failuresInRow = 0;
  }

  async #failedWith(error: unknown): Promise<void> {
    this.#failed += 1;
    this.#failuresInRow += 1;
    if (this.#failuresInRow === 1) {
      this.#parts.logger.warn(
        `Alerts are not delivered to '${this.#parts.name}' for now: ${describeError(error)}. They wait, and it is tried again.`,
      );
    }
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failuresInRow - 1), LONGEST_PAUSE_MS);
    await this.#sleep(pauseMs * (1 + Math.random() * JITTER));
  }

  #sleep(milliseconds: number): Promise<void> {
    return (this.#parts.sleep ?? pause)(milliseconds, this.#stopped.signal);
  }
}

/** What is settled: whether something went out with it, and what changes beside the position. */
type Settlement = { readonly sent: boolean; readonly changes: readonly Change[] };

type AttemptEvents = {
  readonly settle: (position: RecordPosition, settlement: Settlement) => Promise<void>;
  readonly sent: (count: number) => void;
  readonly rejected: (reason: string) => void;
};

/** One try to deliver alerts, with the receiver's deadline. What it says after its end does not count. */
class Attempt implements Delivery {
  readonly #batch: readonly StreamedAlert[];
  readonly #receiver: AlertReceiver;
  readonly #events: AttemptEvents;
  readonly #stop: AbortSignal;
  readonly #ended = new AbortController();
  #settled = 0;
  #sentUnsettled = false;
  #progress: () => void = () => {};

  constructor(batch: readonly StreamedAlert[], receiver: AlertReceiver, stop: AbortSignal, events: AttemptEvents) {
    this.#batch = batch;
    this.#receiver = receiver;
    this.#events = events;
    this.#stop = stop;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** @returns the failure, if it was one */
  async run(): Promise<{ readonly error: unknown } | undefined> {
    const stop = (): void => {
      this.#ended.abort(new Error('svc-monitord stops'));
    };
    this.#stop.addEventListener('abort', stop, { once: true });
    if (this.#stop.aborted) stop();
    try {
      await Promise.race([this.#receiver.deliver(this.#batch, this), this.#overdue()]);
      await this.settle(this.#batch.length);
      return undefined;
    } catch (error) {
      return { error };
    } finally {
      this.#stop.removeEventListener('abort', stop);
      this.#ended.abort(new Error('the delivery has ended'));
    }
  }

  async settle(count: number, changes: readonly Change[] = []): Promise<void> {
    this.#ended.signal.throwIfAborted();
    const position = this.#batch[count - 1]?.end;
    if (position === undefined || (count <= this.#settled && changes.length === 0)) return;
    const sent = this.#sentUnsettled;
    this.#sentUnsettled = false;
    // Without changes nothing can fail: what went out does not go out again.
    if (changes.length === 0) this.#settled = count;
    await this.#events.settle(position, { sent, changes });
    this.#settled = count;
    this.#progress();
  }

  sent(count: number): void {
    if (this.#ended.signal.aborted || count === 0) return;
    this.#sentUnsettled = true;
    this.#events.sent(count);
  }

  rejected(reason: string): void {
    if (!this.#ended.signal.aborted) this.#events.rejected(reason);
  }

  /** Rejects when there is no progress for the deadline, or at the stop. */
  #overdue(): Promise<never> {
    const { deadlineMs } = this.#receiver;
    return new Promise((_resolve, reject) => {
      const late = (): void => {
        this.#ended.abort(new Error(`nothing was taken within ${String(deadlineMs / 1000)} s`));
      };
      let timer = setTimeout(late, deadlineMs);
      this.#progress = () => {
        clearTimeout(timer);
        timer = setTimeout(late, deadlineMs);
      };
      const ended = (): void => {
        clearTimeout(timer);
        this.#progress = () => {};
        reject(this.#ended.signal.reason as Error);
      };
      if (this.#ended.signal.aborted) ended();
      else this.#ended.signal.addEventListener('abort', ended, { once: true });
    });
  }
}

/** When the first of some alerts was written; undefined when it does not say. */
function waitsSince(alerts: readonly StreamedAlert[]): number | undefined {
  const time = alerts[0]?.view?.time;
  return time === undefined || Number.isNaN(time) ? undefined : time;
}
