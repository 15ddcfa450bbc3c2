import { setImmediate as yieldTurn } from 'node:timers/promises';
import { pause } from '../../../lib/async/pause.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { AlertFeed } from '../../../lib/output/alert-feed.js';
import type { RecordStream } from '../../../lib/output/record-stream.js';
import { type AlertPlace, dayNumber, FIRST_PLACE, placeOf, positionOf } from './alert-place.js';
import type { AlertSegment } from './alert-segment.js';
import { type AlertStore, inOrder, type StoreGap, type StoreLimits } from './alert-store.js';
import { AlertWriter } from './alert-writer.js';

export type AlertReaderParts = {
  readonly store: AlertStore;
  readonly stream: RecordStream;
  readonly feed: AlertFeed;
  readonly limits: () => StoreLimits;
  readonly log: { readonly error: (text: string) => void };
  /** Told when there is more to find. */
  readonly onGrown: () => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** After a failure of the disk. */
const RETRY_MS = 5000;
/** How often it is looked whether something is too old. */
const RETAIN_MS = 600_000;
const DAY_MS = 86_400_000;

/** Follows the files of alerts into the store. What it lacks in the middle is read while nothing new comes. */
export class AlertReader {
  readonly #parts: AlertReaderParts;
  readonly #live: AlertWriter;
  #repair: { readonly gap: StoreGap; readonly writer: AlertWriter } | undefined;
  #repaired = 0;
  #retainAt = 0;
  #caughtUp = false;

  constructor(parts: AlertReaderParts) {
    this.#parts = parts;
    this.#live = new AlertWriter(parts.store, { from: parts.store.end ?? this.#oldest() });
  }

  /** Everything that can be found, in the order of writing. */
  get segments(): AlertSegment[] {
    const growing =
      this.#repair === undefined ? [this.#live.segment] : [this.#live.segment, this.#repair.writer.segment];
    return inOrder(this.#parts.store.segments, growing);
  }

  /** Behind the newest alert; undefined before the first. */
  get end(): AlertPlace | undefined {
    const { position } = this.#live;
    return position.file === 0 ? undefined : position;
  }

  /** Bytes of alerts that were not read yet. */
  get behind(): number {
    return this.#parts.stream.bytesAfter(positionOf(this.#live.position));
  }

  /** Whether the end of the files was reached once. */
  get isCaughtUp(): boolean {
    return this.#caughtUp;
  }

  /** Lines that are no alerts, since the start. */
  get rejected(): number {
    return this.#live.rejected + this.#repaired + (this.#repair?.writer.rejected ?? 0);
  }

  /** Reads until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { feed, log } = this.#parts;
    while (!signal.aborted) {
      const mark = feed.mark();
      try {
        this.#retainSometimes();
        if ((await this.#step(this.#live)) || (await this.#repairStep())) {
          // Questions have their turn between two batches.
          await yieldTurn();
          continue;
        }
      } catch (error) {
        log.error(`Alerts cannot be stored to be searched for now: ${describeError(error)}`);
        await pause(RETRY_MS, signal);
        continue;
      }
      this.#caughtUp = true;
      await feed.changed(mark, signal);
    }
  }

  /** Reads all that there is now. @throws Error of the file system */
  async readAll(): Promise<void> {
    while ((await this.#step(this.#live)) || (await this.#repairStep()));
  }

  /** Makes what was read a file, though more would fit. @throws Error of the file system */
  async seal(): Promise<void> {
    await this.#live.seal();
  }

  /** @returns whether there was something to read */
  async #step(writer: AlertWriter): Promise<boolean> {
    const before = writer.position;
    const batch = await this.#parts.feed.read(positionOf(before), true);
    await writer.take(batch);
    if (batch.alerts.length > 0) this.#parts.onGrown();
    return batch.alerts.length > 0 || writer.position.file !== before.file;
  }

  async #repairStep(): Promise<boolean> {
    const { store } = this.#parts;
    // What is kept no longer need not be made anew.
    if (this.#repair !== undefined && !store.hasGapTo(this.#repair.gap.end)) this.#endRepair();
    const [gap] = store.gaps;
    if (this.#repair === undefined && gap !== undefined) this.#repair = { gap, writer: new AlertWriter(store, gap) };
    if (this.#repair === undefined) return false;
    const { writer, gap: repaired } = this.#repair;
    const isMore = !writer.isDone && (await this.#step(writer));
    if (isMore && !writer.isDone) return true;
    // Where the files are gone, nothing is more to be had.
    writer.segment.readTo(repaired.end);
    await writer.seal();
    this.#endRepair();
    return true;
  }

  #endRepair(): void {
    this.#repaired += this.#repair?.writer.rejected ?? 0;
    this.#repair = undefined;
  }

  #retainSometimes(): void {
    const now = this.#parts.now();
    if (now < this.#retainAt) return;
    this.#retainAt = now + RETAIN_MS;
    this.#parts.store.retain(this.#parts.limits(), now);
  }

  /** Before the first alert that is not too old. */
  #oldest(): AlertPlace {
    const { stream, limits, now } = this.#parts;
    const { days } = limits();
    if (days === 0) return FIRST_PLACE;
    const { year, month, day } = localDay(now() - days * DAY_MS);
    const first = year * 10_000 + month * 100 + day;
    let place = placeOf(stream.start());
    while (place.file !== 0 && dayNumber(place) < first) {
      const following = stream.following(positionOf(place));
      if (following === undefined) return place;
      place = placeOf(following);
    }
    return place;
  }
}

/** Month 1 to 12. */
function localDay(time: number): { readonly year: number; readonly month: number; readonly day: number } {
  const date = new Date(time);
  return { year: date.getFullYear(), month: date.getMonth() + 1, day: date.getDate() };
}
