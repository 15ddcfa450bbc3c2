import type { Requirements } from '../../patterns/requirement.js';
import { beginsOf, entriesOf, waysOf } from '../../patterns/sieve.js';
import type { Subject } from '../../patterns/subject.js';
import type { AskedTexts } from '../asked-text.js';
import type { EventFields } from '../event-fields.js';

/** What an event has that a candidate matches: in its log one of some requirements, and each of the texts that it asks for. */
export type CandidateNeeds = { readonly ofLog: Requirements; readonly asks: AskedTexts };

/**
 * Candidates in their order, with two entries of the log's index, the attributes and a field in each way in which one can
 * match. Of tens of candidates one or two can match an event at all: the others are passed over in a loop over flat
 * tables, which takes about a nanosecond each.
 */
export class CandidateSieve {
  /** By way: entries of the log's index. */
  readonly #first: Uint16Array;
  readonly #second: Uint16Array;
  /** By way: bits of the attributes that the event has. */
  readonly #attributes: Uint16Array;
  /** By way: number of a field that the event has, -1 where none is asked for. */
  readonly #slots: Int32Array;
  /** Position of the candidate by way. */
  readonly #positions: Uint32Array;
  /** By position: the first way of this candidate or of one behind it. */
  readonly #begins: Uint32Array;

  constructor(candidates: readonly CandidateNeeds[]) {
    const ways = waysOf(candidates.map(({ ofLog }) => ofLog));
    const entries = ways.map(({ requirement }) => entriesOf(requirement));
    this.#first = Uint16Array.from(entries, ({ first }) => first);
    this.#second = Uint16Array.from(entries, ({ second }) => second);
    const asked = ways.map(({ position }) => candidates[position]?.asks);
    this.#attributes = Uint16Array.from(asked, (asks) => asks?.attributes ?? 0);
    this.#slots = Int32Array.from(asked, (asks) => asks?.slots.at(-1) ?? -1);
    this.#positions = Uint32Array.from(ways, ({ position }) => position);
    this.#begins = beginsOf(ways, candidates.length);
  }

  /** Position of the first candidate at or behind `position` that can match the event; -1 where there is none. */
  next(position: number, { seen, round }: Subject, fields: EventFields): number {
    const first = this.#first;
    const second = this.#second;
    const attributes = this.#attributes;
    const slots = this.#slots;
    const missing = ~fields.attributes;
    const { seen: fieldSeen, round: fieldRound } = fields;
    for (let way = this.#begins[position] ?? first.length; way < first.length; way += 1) {
      if (seen[first[way] ?? 0] !== round || ((attributes[way] ?? 0) & missing) !== 0) continue;
      const slot = slots[way] ?? -1;
      if (slot >= 0 && fieldSeen[slot] !== fieldRound) continue;
      if (seen[second[way] ?? 0] === round) return this.#positions[way] ?? -1;
    }
    return -1;
  }
}
