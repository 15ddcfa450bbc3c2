import { asciiLowerCase } from '../ascii-case.js';

/** Spellings of field names that are kept; a flood of made-up names only makes the table begin anew. */
const MAX_SPELLINGS = 16_384;

/** Numbers for the names of dynamic fields that the rules of one ruleset mention, without regard to case. */
export class FieldTable {
  /** Lower-case name to its number. */
  readonly #slots = new Map<string, number>();
  /** Names as events spell them to their number, -1 for those that no rule mentions. */
  readonly #spellings = new Map<string, number>();
  /** Length and last letter of the names that rules mention: most other names need no look-up. */
  readonly #shapes = new Set<number>();

  /** Number of a name that a rule mentions. */
  slotOf(name: string): number {
    const key = asciiLowerCase(name);
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = this.#slots.size;
      this.#slots.set(key, slot);
      this.#shapes.add(shapeOf(key));
      this.#spellings.clear();
    }
    return slot;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Number of an event's field name, -1 when no rule mentions it. */
  find(spelling: string): number {
    if (!this.#shapes.has(shapeOf(spelling))) return -1;
    const known = this.#spellings.get(spelling);
    if (known !== undefined) return known;
    const slot = this.#slots.get(asciiLowerCase(spelling)) ?? -1;
    if (this.#spellings.size >= MAX_SPELLINGS) this.#spellings.clear();
    this.#spellings.set(spelling, slot);
    return slot;
  }
}

/** Number for the length and, without regard to case, the last character of a name. */
function shapeOf(name: string): number {
  return (name.length << 8) | (name.charCodeAt(name.length - 1) & 0xdf);
}
