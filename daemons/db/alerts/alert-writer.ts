import type { AlertBatch, StreamedAlert } from '../../../lib/output/alert-feed.js';
import { type AlertContent, ReadContent } from './alert-content.js';
import { type AlertPlace, comparePlaces, dayNumber, placeOf } from './alert-place.js';
import { AlertScanner } from './alert-scanner.js';
import type { AlertStore, StoreGap } from './alert-store.js';
import { OpenSegment } from './open-segment.js';

/** Turns the stream of alerts into segments: up to a place, or for as long as it grows. */
export class AlertWriter {
  readonly #store: AlertStore;
  readonly #until: AlertPlace | undefined;
  #segment: OpenSegment;
  readonly #scanner = new AlertScanner();
  #rejected = 0;
  #isSealing = false;

  /** @param gap what is missing; of the live stream it has no end */
  constructor(store: AlertStore, { from, end }: { readonly from: AlertPlace; readonly end?: StoreGap['end'] }) {
    this.#store = store;
    this.#until = end;
    this.#segment = new OpenSegment(from);
  }

  /** The segment that grows. */
  get segment(): OpenSegment {
    return this.#segment;
  }

  /** Where to read on. */
  get position(): AlertPlace {
    return this.#segment.end;
  }

  /** Lines that are no alerts, so far. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Whether everything up to its end was read. */
  get isDone(): boolean {
    return this.#until !== undefined && comparePlaces(this.position, this.#until) >= 0;
  }

  /**
   * Takes alerts that were read at its position. What was taken stays taken when it fails, and the same position is read on.
   * @throws Error of the file system
   */
  async take({ alerts, next }: AlertBatch): Promise<void> {
    for (const alert of alerts) {
      const { text, end } = alert;
      const behind = placeOf(end);
      const place = this.#begins(text, behind);
      if (this.#until !== undefined && comparePlaces(place, this.#until) >= 0) break;
      if (this.#isNewDay(place) || this.#segment.isFull || this.#isSealing) await this.seal();
      const content = this.#contentOf(alert);
      if (content === undefined) this.#rejected += 1;
      else this.#segment.add(content, text, place);
      this.#segment.readTo(behind);
    }
    await this.#segment.room();
    const reached = placeOf(next);
    const isBeyond = this.#until !== undefined && comparePlaces(reached, this.#until) > 0;
    if (next.file !== '') this.#segment.readTo(isBeyond && this.#until !== undefined ? this.#until : reached);
  }

  /** Makes what it has a file, and begins the next one behind. @throws Error of the file system */
  async seal(): Promise<void> {
    if (comparePlaces(this.#segment.from, this.#segment.end) === 0) return;
    this.#isSealing = true;
    await this.#store.seal(this.#segment);
    this.#segment = new OpenSegment(this.#segment.end);
    this.#isSealing = false;
  }

  /** @returns undefined when the line is no alert */
  #contentOf(alert: StreamedAlert): AlertContent | undefined {
    if (this.#scanner.scan(alert.text)) return this.#scanner;
    const { view } = alert;
    return view === undefined ? undefined : new ReadContent(view);
  }

  #begins(text: string, { file, offset }: AlertPlace): AlertPlace {
    const { file: lastFile, offset: last } = this.#segment.end;
    const start = offset - Buffer.byteLength(text) - 1;
    return { file, offset: file === lastFile ? Math.max(last, start) : Math.max(0, start) };
  }

  /** The files of a day go together when they are old: so do its segments. */
  #isNewDay(place: AlertPlace): boolean {
    return this.#segment.rows > 0 && dayNumber(this.#segment.end) !== dayNumber(place);
  }
}
