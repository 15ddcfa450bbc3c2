import type { MatchState } from './match-state.js';
import type { Requirement, Requirements } from './requirement.js';
import { Sieve, waysOf } from './sieve.js';
import type { Subject } from './subject.js';
import { TextSearch } from './text-search.js';

/** From so many ways with texts on they are looked for together; fewer are looked for one by one when they are tried. */
const MIN_WAYS = 16;
/** Shorter texts say little more than the subject's index. */
const MIN_TEXT = 3;
/** Of longer texts only the beginning is looked for. */
const MAX_TEXT = 64;
/** Bytes of all texts together that are looked for; each may take some 200 bytes of memory. */
const MAX_BYTES = 16_384;
/** Bytes of the subject that are looked through in the time of one step, as a power of two. */
const BYTES_A_STEP_SHIFT = 3;

/**
 * A sieve for many patterns of which each needs a text of its own, as the siblings do that take one field each out of `name=value`: one
 * pass through the subject tells which of the texts are there.
 */
export class TextSieve {
  readonly #sieve: Sieve;
  readonly #search: TextSearch | undefined;
  /** By way: two of the texts that it needs; the number behind the last where there are not so many. */
  readonly #first: Int32Array;
  readonly #second: Int32Array;
  /** By way: the first of all texts that it needs, and how long it is; the number behind the last where it is not looked for. */
  readonly #leading: Int32Array;
  readonly #leadingLengths: Uint8Array;

  constructor(patterns: readonly Requirements[]) {
    this.#sieve = new Sieve(patterns);
    const ways = waysOf(patterns);
    const texts = ways.map(({ requirement }) => textsOf(requirement));
    const known = texts.filter(({ length }) => length > 0).length >= MIN_WAYS ? distinct(texts.flat()) : [];
    const numbers = new Map(known.map((text, number) => [text, number]));
    this.#search = known.length === 0 ? undefined : new TextSearch(known);
    const numberOf = (text = ''): number => numbers.get(text) ?? known.length;
    this.#first = Int32Array.from(texts, ([text]) => numberOf(text));
    this.#second = Int32Array.from(texts, ([, text]) => numberOf(text));
    this.#leading = Int32Array.from(ways, ({ requirement }) => numberOf(requirement.texts[0]));
    this.#leadingLengths = Uint8Array.from(ways, ({ requirement }) =>
      Math.min(requirement.texts[0]?.length ?? 0, MAX_TEXT),
    );
  }

  /** Looks through a subject, before its ways are asked for. What it takes comes off the steps left. */
  look(subject: Subject, state: MatchState): void {
    if (this.#search === undefined) return;
    state.stepsLeft -= subject.length >> BYTES_A_STEP_SHIFT;
    this.#search.look(subject);
  }

  /** The first way at or behind `from` in which a pattern can match the subject that was looked through; -1 where there is none. */
  nextWay(from: number, subject: Subject): number {
    let way = this.#sieve.nextWay(from, subject);
    if (this.#search === undefined) return way;
    const { ends } = this.#search;
    const first = this.#first;
    const second = this.#second;
    while (way >= 0 && (ends[first[way] ?? 0] === -1 || ends[second[way] ?? 0] === -1)) {
      way = this.#sieve.nextWay(way + 1, subject);
    }
    return way;
  }

  /** Offset at which the first of the texts that a way needs stands first in the subject that was looked through; -1 where that is not known. */
  found(way: number): number {
    const end = this.#search?.ends[this.#leading[way] ?? 0] ?? 0;
    return end <= 0 ? -1 : end - (this.#leadingLengths[way] ?? 0);
  }

  /** The first way of the pattern at a position, or of one behind it. */
  begin(position: number): number {
    return this.#sieve.begin(position);
  }

  /** Position of the pattern that can match in a way. */
  position(way: number): number {
    return this.#sieve.position(way);
  }

  /** Number of the alternative of the pattern that can match in a way; -1 where all have to be tried. */
  alternative(way: number): number {
    return this.#sieve.alternative(way);
  }
}

/** The texts without those that were there before, as far as there is room for them. */
function distinct(texts: readonly string[]): readonly string[] {
  let bytes = 0;
  return [...new Set(texts)].filter(({ length }) => (bytes += length) <= MAX_BYTES);
}

/** The texts of a way that are worth looking for. */
function textsOf({ texts }: Requirement): readonly string[] {
  return texts
    .filter(({ length }) => length >= MIN_TEXT)
    .map((text) => text.slice(0, MAX_TEXT))
    .sort((a, b) => b.length - a.length)
    .slice(0, 2);
}
