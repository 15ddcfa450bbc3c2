import { FOLD } from './fold-ascii.js';
import type { MatchState } from './match-state.js';
import { openingOfText } from './opening.js';
import type { Requirement } from './requirement.js';
import { pairsOf, type Subject } from './subject.js';

const EMPTY = 0;
const STARTS = 1;
const ENDS = 2;
const EQUALS = 3;
const CONTAINS = 4;

/**
 * Texts longer than this (bytes) are searched for in our own way: V8's search takes the product of both lengths for some,
 * a second for one letter and 20,000 times another.
 */
const MAX_INDEX_OF = 200;
/** Bytes that our own search passes in the time of one step, as a power of two. */
const BYTES_A_STEP_SHIFT = 2;
/** What it costs that a text is none at the place where it would have to stand. */
const ANCHORED_STEPS = 1;

/** By folded byte: the bytes that are it. One table serves all texts that begin alike. */
const BEGINNINGS: (Uint8Array | undefined)[] = [];

function beginningWith(first: number): Uint8Array {
  return (BEGINNINGS[first] ??= FOLD.map((byte) => (byte === first ? 1 : 0)));
}

/** A plain text that a subject has to start with, end with, equal or contain, compared case-insensitively. */
export class Literal {
  readonly #kind: number;
  readonly #text: string;
  readonly #bytes: Uint8Array;
  readonly #pairs: Uint16Array;
  /** What a subject has in which the text is found. */
  readonly requirement: Requirement;
  /** Of a long text: by length of a part that was found, the length of its longest end that is a beginning, too. */
  readonly #borders: Uint16Array | undefined;

  /** @param text folded byte string */
  constructor(text: string, start: boolean, end: boolean) {
    this.#kind = start ? (end ? EQUALS : STARTS) : end ? ENDS : text === '' ? EMPTY : CONTAINS;
    this.#text = text;
    this.#bytes = Buffer.from(text, 'latin1');
    this.#pairs = pairsOf([text]);
    const first = start ? this.#bytes[0] : undefined;
    const table = first === undefined ? undefined : beginningWith(first);
    const opening = first === undefined ? undefined : () => openingOfText(text);
    this.requirement = { pairs: this.#pairs, texts: [text], start: table, opening, alternative: -1 };
    this.#borders = this.#kind === CONTAINS && text.length > MAX_INDEX_OF ? bordersOf(this.#bytes) : undefined;
  }

  /** Offset behind the first match in the subject from `from` on, or -1. What it takes comes off the steps left, where the index does not say at once. */
  find(subject: Subject, state: MatchState, from: number): number {
    const kind = this.#kind;
    const bytes = this.#bytes;
    const atStart = kind === STARTS || kind === EQUALS;
    if (atStart && bytes.length > 0 && FOLD[subject.bytes[from] ?? 0] !== bytes[0]) return -1;
    if (!subject.mayContain(this.#pairs)) return -1;
    if (kind === CONTAINS) {
      if (this.#borders !== undefined) return this.#findLong(this.#borders, subject, state, from);
      const index = subject.foldedText.indexOf(this.#text, from);
      const steps = subject.searchSteps(bytes[0] ?? 0);
      // As far as it went.
      state.stepsLeft -= index < 0 ? steps : 1 + Math.floor((steps * (index - from)) / subject.length);
      return index < 0 ? -1 : index + bytes.length;
    }
    const last = subject.length - bytes.length;
    if (last < from || (kind === EQUALS && last !== from)) return -1;
    state.stepsLeft -= ANCHORED_STEPS + (bytes.length >> BYTES_A_STEP_SHIFT);
    const begin = kind === ENDS ? last : from;
    const all = subject.bytes;
    for (let i = 0; i < bytes.length; i += 1) if (FOLD[all[begin + i] ?? 0] !== bytes[i]) return -1;
    return begin + bytes.length;
  }

  /** The search of Knuth, Morris and Pratt: it never goes back in the subject. */
  #findLong(borders: Uint16Array, subject: Subject, state: MatchState, from: number): number {
    const wanted = this.#bytes;
    const { bytes, length } = subject;
    state.stepsLeft -= length >> BYTES_A_STEP_SHIFT;
    let found = 0;
    for (let i = from; i < length; i += 1) {
      const byte = FOLD[bytes[i] ?? 0];
      while (found > 0 && wanted[found] !== byte) found = borders[found] ?? 0;
      if (wanted[found] === byte) found += 1;
      if (found === wanted.length) return i + 1;
    }
    return -1;
  }
}

function bordersOf(bytes: Uint8Array): Uint16Array {
  const borders = new Uint16Array(bytes.length + 1);
  let border = 0;
  for (let i = 1; i < bytes.length; i += 1) {
    while (border > 0 && bytes[i] !== bytes[border]) border = borders[border] ?? 0;
    if (bytes[i] === bytes[border]) border += 1;
    borders[i + 1] = border;
  }
  return borders;
}
