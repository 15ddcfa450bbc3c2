import { isAscii, toValidUtf8 } from '../byte-string.js';

/** A value that belongs to the place of an alert among the others: it is put in when that is known. */
export type LateValue = 'id' | 'firedTimes';

/** A record in which late values are missing. */
export type OpenRecord = {
  /** A byte string: it takes as many bytes as it has characters. */
  readonly text: string;
  /** Places of the late values in it, in their order. */
  readonly gaps: readonly RecordGap[];
};

export type RecordGap = { readonly at: number; readonly late: LateValue };

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

  /** The record without its late values. */
  open(): OpenRecord {
    const parts = this.#parts;
    if (this.#idAt >= 0) parts[this.#idAt] = '';
    if (this.#firedTimesAt >= 0) parts[this.#firedTimesAt] = '';
    const text = parts.join('');
    if (this.#isUtf8 && !isAscii(text)) return this.#mended();
    const gaps: RecordGap[] = [];
    const last = Math.max(this.#idAt, this.#firedTimesAt);
    let at = 0;
    for (let index = 0; index <= last; index += 1) {
      at += parts[index]?.length ?? 0;
      if (index === this.#idAt) gaps.push({ at, late: 'id' });
      else if (index === this.#firedTimesAt) gaps.push({ at, late: 'firedTimes' });
    }
    return { text, gaps };
  }

  /** Late values are digits: a text that is cut at one is valid where the whole is, and is mended as the whole would be. */
  #mended(): OpenRecord {
    const parts = this.#parts;
    const gaps: RecordGap[] = [];
    let text = '';
    let from = 0;
    for (let index = 0; index <= parts.length; index += 1) {
      const isGap = index === this.#idAt || index === this.#firedTimesAt;
      if (!isGap && index < parts.length) continue;
      text += toValidUtf8(parts.slice(from, index).join(''));
      if (isGap) gaps.push({ at: text.length, late: index === this.#idAt ? 'id' : 'firedTimes' });
      from = index + 1;
    }
    return { text, gaps };
  }
}
