import { type AskedTexts, attributesOf } from './asked-text.js';
import type { FieldTable } from './decode/field-table.js';
import type { EngineEvent } from './event.js';

/**
 * The fields of the event at hand by their numbers, so that the hundreds of conditions on fields do not search names, and what
 * else it has of the texts that rules ask for. One object serves all events: a field counts only when it is of the round.
 */
export class EventFields {
  readonly #table: FieldTable;
  readonly #values: string[];
  /** By number: the round of the last event that had the field. */
  readonly seen: Uint8Array;
  /** 1..255; that of the event at hand, once it has been loaded. */
  round = 1;
  /** The attributes that the event at hand has, see `attributesOf`. */
  attributes = 0;
  #event: EngineEvent | undefined = undefined;

  constructor(table: FieldTable) {
    this.#table = table;
    this.#values = Array.from({ length: table.size }, () => '');
    this.seen = new Uint8Array(table.size);
  }

  /** Forgets the event. */
  reset(): void {
    this.#event = undefined;
  }

  /** Whether the event at hand has all of these texts. */
  hasAll({ attributes, slots }: AskedTexts): boolean {
    if ((attributes & ~this.attributes) !== 0) return false;
    if (slots.length === 0) return true;
    const { seen, round } = this;
    for (const slot of slots) if (seen[slot] !== round) return false;
    return true;
  }

  /** Value of the first field with this number, or undefined. */
  value(event: EngineEvent, slot: number): string | undefined {
    if (event !== this.#event) this.load(event);
    return this.seen[slot] === this.round ? this.#values[slot] : undefined;
  }

  /** Makes an event the one at hand; its fields and attributes do not change any more from now on. */
  load(event: EngineEvent): void {
    this.#event = event;
    this.attributes = attributesOf(event);
    this.round += 1;
    if (this.round === 256) {
      this.seen.fill(0);
      this.round = 1;
    }
    if (event.fieldNames.length > 0) this.#loadFields(event);
  }

  #loadFields({ fieldNames, fieldValues }: EngineEvent): void {
    const { seen, round } = this;
    for (let i = 0; i < fieldNames.length; i += 1) {
      const slot = this.#table.find(fieldNames[i] ?? '');
      if (slot < 0 || seen[slot] === round) continue;
      seen[slot] = round;
      this.#values[slot] = fieldValues[i] ?? '';
    }
  }
}
