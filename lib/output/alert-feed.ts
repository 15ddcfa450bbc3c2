import { statSync } from 'node:fs';
import { pause } from '../async/pause.js';
import { ifPresentSync } from '../files/if-present.js';
import { AlertView } from './alert-view.js';
import type { RecordPosition, RecordStream } from './record-stream.js';

/** An alert on its way to an output. */
export class StreamedAlert {
  /** Its line of alerts.json, without the line end. */
  readonly text: string;
  /** Where the stream goes on behind it. */
  readonly end: RecordPosition;
  #view: AlertView | undefined | 'unread' = 'unread';

  constructor(text: string, end: RecordPosition) {
    this.text = text;
    this.end = end;
  }

  /** Read when it is asked for, once for all outputs; undefined when the line is no alert. */
  get view(): AlertView | undefined {
    if (this.#view === 'unread') this.#view = AlertView.parse(this.text);
    return this.#view;
  }
}

/** Alerts that were read in one go. */
export type AlertBatch = { readonly alerts: readonly StreamedAlert[]; readonly next: RecordPosition };

export type AlertFeedParts = {
  readonly stream: RecordStream;
  /** `logs/alerts/alerts.json`: it grows, or is another file, when there is something new. */
  readonly liveFile: string;
  readonly log: { warn(text: string): void };
  /** Who reads, as the log calls them (`Outputs`). */
  readonly readers?: string;
  /** Alerts that are read at a time (2048). */
  readonly batch?: number;
  /** Milliseconds between two looks at the live file (100). */
  readonly lookMs?: number;
  /** How long a position beyond the end of a file that has a successor is waited for, milliseconds (10 minutes). */
  readonly patienceMs?: number;
};

/** Alerts that are read at a time unless another number is said: one request to a search engine. */
const MAX_BATCH = 2048;
/** After a power cut svc-analysisd writes the lost end of the last file again; this is long enough for any replay. */
const PATIENCE_MS = 600_000;
const LOOK_MS = 100;
/** What is asked for without a sign of something new, so that a sign that was missed costs no more. */
const ANYWAY_MS = 5000;

/**
 * The stream of alerts as the outputs read it: outputs that stand at the same place share what was read and parsed, and
 * one look at the live file wakes all that wait.
 */
export class AlertFeed {
  readonly #parts: AlertFeedParts;
  #last: { readonly from: RecordPosition; readonly batch: Promise<AlertBatch> } | undefined;
  /** Since when each position is beyond the end of its file. */
  readonly #beyond = new Map<string, number>();

  constructor(parts: AlertFeedParts) {
    this.#parts = parts;
  }

  /** Behind the newest alert. */
  end(): Promise<RecordPosition> {
    return this.#parts.stream.end();
  }

  /** Bytes of alerts behind a position. */
  bytesAfter(position: RecordPosition): number {
    return this.#parts.stream.bytesAfter(position);
  }

  /** Alerts behind a position; none when it is the end. @param anew whether what was read before is not enough */
  async read(from: RecordPosition, anew = false): Promise<AlertBatch> {
    const last = anew ? undefined : this.#last;
    if (last?.from.file === from.file && last.from.offset === from.offset) {
      const batch = await last.batch;
      if (batch.alerts.length > 0) return batch;
    }
    const batch = this.#read(from);
    this.#last = { from, batch };
    try {
      return await batch;
    } catch (error) {
      if (this.#last.batch === batch) this.#last = undefined;
      throw error;
    }
  }

  /** What the live file looks like now: take it before reading, and wait for another after. */
  mark(): string {
    const found = ifPresentSync(() => statSync(this.#parts.liveFile));
    return found === undefined ? '' : `${String(found.dev)}:${String(found.ino)}:${String(found.size)}`;
  }

  /** Waits for something new since a mark, or for the signal; a while without news ends it, too. */
  async changed(mark: string, signal: AbortSignal): Promise<void> {
    const { lookMs = LOOK_MS } = this.#parts;
    for (let waited = 0; waited < ANYWAY_MS && !signal.aborted && this.mark() === mark; waited += lookMs) {
      await pause(lookMs, signal);
    }
  }

  async #read(from: RecordPosition): Promise<AlertBatch> {
    const key = `${from.file}:${String(from.offset)}`;
    try {
      const { stream, batch = MAX_BATCH } = this.#parts;
      const { records, ends, next } = await stream.read(from, batch);
      this.#beyond.delete(key);
      return {
        alerts: records.map((text, i) => new StreamedAlert(text, { file: next.file, offset: ends[i] ?? next.offset })),
        next,
      };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return this.#beyondEnd(from, key, error);
    }
  }

  /**
   * A position that is kept outlives a power cut, the last lines of a file may not: svc-analysisd writes them again. Where
   * it does not, the stream goes on in the next file.
   */
  #beyondEnd(from: RecordPosition, key: string, reason: RangeError): AlertBatch {
    const { stream, log, readers = 'Outputs', patienceMs = PATIENCE_MS } = this.#parts;
    const since = this.#beyond.get(key) ?? performance.now();
    this.#beyond.set(key, since);
    const following = stream.following(from);
    if (following === undefined || performance.now() - since < patienceMs) {
      log.warn(
        `${readers} wait for alerts to be written again: they stand at byte ${String(from.offset)}, and ${reason.message}`,
      );
      return { alerts: [], next: from };
    }
    this.#beyond.delete(key);
    log.warn(
      `${readers} go on in '${following.file}': what they had read of the file before it is gone (${reason.message})`,
    );
    return { alerts: [], next: following };
  }
}
