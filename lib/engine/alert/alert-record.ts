import { toValidUtf8 } from '../byte-string.js';

/** A value that belongs to the place of an alert among the others: it is put in when that is known. */
export type LateValue = 'id' | 'firedTimes';

/** What stands before a late value, or at the end of a record. */
export type RecordPiece = {
  /** A byte string: it takes as many bytes as it has characters. */
  readonly text: string;
  /** What comes behind the text; absent at the end. */
  readonly late?: LateValue;
};

/**
 * A record of an output, made of texts, in which the alert's id and how often its rule fired may be left open: whoever
 * renders alerts need not know the order in which they are written. All texts are byte strings.
 */
export class AlertRecord {
  readonly #parts: string[] = [];
  /** Whether the whole has to be valid UTF-8, as JSON has. */
  readonly #isUtf8: boolean;
  #idAt = -1;
  #firedTimesAt = -1;

  constructor(isUtf8: boolean) {
    this.#isUtf8 = isUtf8;
  }

  add(text: string): void {
    this.#parts.push(text);
  }

  /** The id stands here; once in a record. */
  addId(): void {
    this.#idAt = this.#parts.length;
    this.#parts.push('');
  }

  /** How often the rule fired stands here; once in a record. */
  addFiredTimes(): void {
    this.#firedTimesAt = this.#parts.length;
    this.#parts.push('');
  }

  /**
   * The whole record.
   * @param id `<seconds>.<offset>` (rules-and-alerts.md 7.4)
   * @param firedTimes how often the rule has fired with this event; of no account where the record does not show it
   */
  complete(id: string, firedTimes: number | undefined): string {
    const parts = this.#parts;
    if (this.#idAt >= 0) parts[this.#idAt] = id;
    if (this.#firedTimesAt >= 0) parts[this.#firedTimesAt] = String(firedTimes ?? 0);
    const text = parts.join('');
    return this.#isUtf8 ? toValidUtf8(text) : text;
  }

  /** The record without its late values, in their order: their places in the bytes are where the texts end. */
  pieces(): RecordPiece[] {
    const places: [number, LateValue][] = [];
    if (this.#idAt >= 0) places.push([this.#idAt, 'id']);
    if (this.#firedTimesAt >= 0) places.push([this.#firedTimesAt, 'firedTimes']);
    places.sort(([a], [b]) => a - b);
    const pieces: RecordPiece[] = [];
    let from = 0;
    for (const [at, late] of places) {
      pieces.push({ text: this.#textOf(from, at), late });
      from = at + 1;
    }
    pieces.push({ text: this.#textOf(from, this.#parts.length) });
    return pieces;
  }

  /** Late values are digits: a text that is cut at one is valid where the whole is, and is mended as the whole would be. */
  #textOf(from: number, to: number): string {
    const text = this.#parts.slice(from, to).join('');
    return this.#isUtf8 ? toValidUtf8(text) : text;
  }
}
