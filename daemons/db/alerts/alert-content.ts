import type { AlertView } from '../../../lib/output/alert-view.js';
import { type AlertValue, FAMILY_READERS } from './alert-fields.js';
import { alertText, visitWords } from './alert-words.js';

/** What the store keeps of an alert beside its line. */
export interface AlertContent {
  /** Epoch milliseconds; NaN when the alert does not say it. */
  readonly time: number;
  /** A text that stands for its fields of a family (`FAMILIES`): alerts with the same text have the same, whoever read them. */
  key(family: number): string;
  /** Its fields of a family, in their order. */
  values(family: number): AlertValue[];
  /** Calls `visit` with the number of each of its words (alert-words.ts), some of them several times. */
  visitWords(visit: (hash: number) => void): void;
}

/** Before keys of alerts that were read as JSON: nothing that JSON writes begins with it, as keys of a scanner (alert-scanner.ts) do. */
const OF_JSON = '=';

/** Of an alert that was read as JSON. */
export class ReadContent implements AlertContent {
  readonly time: number;
  readonly #json: AlertView['json'];

  constructor({ json, time }: AlertView) {
    this.#json = json;
    this.time = time;
  }

  key(family: number): string {
    return OF_JSON + JSON.stringify(this.values(family));
  }

  values(family: number): AlertValue[] {
    return FAMILY_READERS[family]?.(this.#json) ?? [];
  }

  visitWords(visit: (hash: number) => void): void {
    visitWords(alertText(this.#json), visit);
  }
}
