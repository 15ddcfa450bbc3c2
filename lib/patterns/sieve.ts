import type { ByteTable } from './os-regex-parse.js';
import type { Requirement, Requirements } from './requirement.js';
import { ALWAYS, startEntry, type Subject } from './subject.js';

/** A pattern that can match in more ways (a list of hundreds of words, say) is not passed over: it would fill the tables. */
export const MAX_WAYS = 128;

/**
 * Patterns in their order, with two entries of the subject's index for each way in which one can match. Of tens of patterns
 * one or two can match a subject at all: the others are passed over in a loop over flat tables, which takes about a nanosecond each.
 */
export class Sieve {
  /** Entries of the index by way; ALWAYS where there is none. */
  readonly #first: Uint16Array;
  readonly #second: Uint16Array;
  /** Position of the pattern by way. */
  readonly #positions: Uint32Array;
  readonly #alternatives: Int16Array;
  /** By position: the first way of this pattern or of one behind it. */
  readonly #begins: Uint32Array;

  constructor(patterns: readonly Requirements[]) {
    const ways = waysOf(patterns);
    const entries = ways.map(({ requirement }) => entriesOf(requirement));
    this.#first = Uint16Array.from(entries, ({ first }) => first);
    this.#second = Uint16Array.from(entries, ({ second }) => second);
    this.#positions = Uint32Array.from(ways, ({ position }) => position);
    this.#alternatives = Int16Array.from(ways, ({ requirement }) => requirement.alternative);
    this.#begins = beginsOf(ways, patterns.length);
  }

  /** Position of the first pattern at or behind `position` that can match the subject; -1 where there is none. */
  next(position: number, subject: Subject): number {
    const way = this.nextWay(this.begin(position), subject);
    return way < 0 ? -1 : this.position(way);
  }

  /** The first way at or behind `from` in which a pattern can match the subject; -1 where there is none. Ways are in the order of trials. */
  nextWay(from: number, { seen, round }: Subject): number {
    const first = this.#first;
    const second = this.#second;
    for (let way = from; way < first.length; way += 1) {
      if (seen[first[way] ?? 0] === round && seen[second[way] ?? 0] === round) return way;
    }
    return -1;
  }

  /** The first way of the pattern at a position, or of one behind it. */
  begin(position: number): number {
    return this.#begins[position] ?? this.#first.length;
  }

  /** Position of the pattern that can match in a way. */
  position(way: number): number {
    return this.#positions[way] ?? -1;
  }

  /** Number of the alternative of the pattern that can match in a way; -1 where all have to be tried. */
  alternative(way: number): number {
    return this.#alternatives[way] ?? -1;
  }
}

/** A way to match of one of several patterns. */
export type Way = {
  /** Position of the pattern. */
  readonly position: number;
  readonly requirement: Requirement;
};

/** The ways of patterns to match, in the order of trials. */
export function waysOf(patterns: readonly Requirements[]): readonly Way[] {
  return patterns.flatMap((requirements, position) => {
    const known = requirements !== undefined && requirements.length <= MAX_WAYS;
    return (known ? requirements : ANY).map((requirement) => ({ position, requirement }));
  });
}

/** By position: the first way of this pattern or of one behind it. One that never matches has no way. */
export function beginsOf(ways: readonly Way[], patterns: number): Uint32Array {
  const begins = new Uint32Array(patterns + 1).fill(ways.length);
  let way = ways.length;
  for (let position = patterns - 1; position >= 0; position -= 1) {
    while (way > 0 && (ways[way - 1]?.position ?? -1) >= position) way -= 1;
    begins[position] = way;
  }
  return begins;
}

const ANY: readonly Requirement[] = [
  { pairs: new Uint16Array(0), texts: [], start: undefined, opening: undefined, alternative: -1 },
];

/** The two entries of a subject's index that say most of those that are there where a pattern matches in a way. */
export function entriesOf({ pairs, start }: Requirement): { readonly first: number; readonly second: number } {
  const begin = start === undefined ? undefined : beginEntry(start);
  const [rarest = ALWAYS, next = ALWAYS] = pairs;
  return begin === undefined ? { first: rarest, second: next } : { first: begin, second: rarest };
}

/** The entry for the byte that a table accepts, if its bytes have one and the same. */
function beginEntry(start: ByteTable): number | undefined {
  let entry: number | undefined;
  for (const [byte, accepted] of start.entries()) {
    if (accepted === 0) continue;
    if (entry !== undefined && entry !== startEntry(byte)) return undefined;
    entry = startEntry(byte);
  }
  return entry;
}
