import { flatBytes } from '../byte-string.js';
import { arrayJson, NestedJson } from '../decode/nested-json.js';
import { STATIC_FIELDS } from '../event.js';
import { escapeJson } from '../json-text.js';
import type { AlertRecord } from './alert-record.js';

/** Separates places of values from the JSON around them: no JSON text has it. */
const PLACE = '\0';
/** What a text takes beside its characters; measured on V8 and rounded up. */
const TEXT_BYTES = 24;

/**
 * What all events with the same members in the same order have in common: where each value stands in the alert's JSON
 * (rules-and-alerts.md 7.1) and text, and what stands between them.
 */
export class DataShape {
  /** JSON before each value that is shown, with the quotes around values; one more than there are values. */
  readonly #json: readonly string[];
  /** Which value stands behind each of those. */
  readonly #order: readonly number[];
  /** Text before the value of each dynamic field, with the end of the line before it. */
  readonly #lines: readonly string[];
  readonly #statics: number;
  /** Memory that it takes, about. */
  readonly bytes: number;

  /**
   * @param statics positions in `STATIC_FIELDS` of the static members, which are the first values
   * @param names of the dynamic fields, whose values follow; only those that have a value
   */
  constructor(statics: readonly number[], names: readonly string[]) {
    const object = new NestedJson();
    statics.forEach((field, i) => {
      object.set(STATIC_FIELDS[field] ?? '', place(i));
    });
    names.forEach((name, i) => {
      object.addJson(name, place(statics.length + i));
    });
    const texts = object.toString().split(PLACE);
    const json: string[] = [];
    const order: number[] = [];
    for (let i = 0; i < texts.length; i += 2) {
      const isLast = i === texts.length - 1;
      json.push(flatBytes(`${i === 0 ? ',"data":' : '"'}${texts[i] ?? ''}${isLast ? '' : '"'}`));
      if (!isLast) order.push(Number(texts[i + 1]));
    }
    this.#json = json;
    this.#order = order;
    this.#lines = names.map((name, i) => flatBytes(`${i === 0 ? '' : '\n'}${name}: `));
    this.#statics = statics.length;
    this.bytes = [...this.#json, ...this.#lines].reduce((sum, text) => sum + text.length + TEXT_BYTES, 0);
  }

  /** Compact JSON of the values that are shown as arrays, by their places; undefined where there are none. */
  arraysOf(values: readonly string[]): (string | undefined)[] | undefined {
    let arrays: (string | undefined)[] | undefined;
    for (let at = this.#statics; at < values.length; at += 1) {
      const array = arrayJson(values[at] ?? '');
      if (array === undefined) continue;
      arrays ??= values.map(() => undefined);
      arrays[at] = array;
    }
    return arrays;
  }

  /**
   * Adds the `data` member with a comma before it; nothing when there is no value.
   * @param arrays as `arraysOf` gives them
   */
  addJson(record: AlertRecord, values: readonly string[], arrays: readonly (string | undefined)[] | undefined): void {
    const json = this.#json;
    const order = this.#order;
    if (order.length === 0) return;
    let wasQuoted = true;
    for (let i = 0; i < order.length; i += 1) {
      const at = order[i] ?? 0;
      const value = values[at] ?? '';
      const array = arrays?.[at];
      const isQuoted = array === undefined;
      record.add(withoutQuotes(json[i] ?? '', wasQuoted, isQuoted));
      record.add(array ?? escapeJson(value));
      wasQuoted = isQuoted;
    }
    record.add(withoutQuotes(json[order.length] ?? '', wasQuoted, true));
  }

  /** Adds a line for each dynamic field. */
  addLines(record: AlertRecord, values: readonly string[]): void {
    const lines = this.#lines;
    if (lines.length === 0) return;
    for (let i = 0; i < lines.length; i += 1) {
      record.add(lines[i] ?? '');
      record.add(values[this.#statics + i] ?? '');
    }
    record.add('\n');
  }
}

function place(value: number): string {
  return PLACE + String(value) + PLACE;
}

/** The text between two values, of which arrays have no quotes. */
function withoutQuotes(text: string, isQuotedBefore: boolean, isQuotedBehind: boolean): string {
  if (isQuotedBefore && isQuotedBehind) return text;
  return text.slice(isQuotedBefore ? 0 : 1, isQuotedBehind ? text.length : -1);
}
