import type { FieldTable } from './decode/field-table.js';
import type { EngineEvent } from './event.js';

/**
 * The fields of the event at hand by their numbers, so that the hundreds of conditions on fields do not search names. One
 * object serves all events: a slot counts only when its stamp is that of the event.
 */
export class EventFields {
  readonly #table: FieldTable;
  readonly #values: string[];
  readonly #stamps: Float64Array;
  #stamp = 0;
  #event: EngineEvent | undefined = undefined;

  constructor(table: FieldTable) {
    this.#table = table;
    this.#values = Array.from({ length: table.size }, () => '');
    this.#stamps = new Float64Array(table.size);
  }

  /** Forgets the event. */
  reset(): void {
    this.#event = undefined;
  }

  /** Value of the first field with this number, or undefined. */
  value(event: EngineEvent, slot: number): string | undefined {
    if (event !== this.#event) this.#load(event);
    return this.#stamps[slot] === this.#stamp ? this.#values[slot] : undefined;
  }

  #load(event: EngineEvent): void {
    this.#event = event;
    const stamp = ++this.#stamp;
    const names = event.fieldNames;
    for (let i = 0; i < names.length; i += 1) {
      const slot = this.#table.find(names[i] ?? '');
      if (slot < 0 || this.#stamps[slot] === stamp) continue;
      this.#stamps[slot] = stamp;
      this.#values[slot] = event.fieldValues[i] ?? '';
    }
  }
}
