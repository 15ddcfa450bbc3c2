import { FOLD } from './fold-ascii.js';
import type { MatchState } from './match-state.js';
import {
  CLASS,
  LAST,
  LITERAL,
  MARK,
  MAX_PREFIX,
  type OsRegexCode,
  OUTSIDE,
  PLUS,
  STAR,
  STAY,
} from './os-regex-code.js';
import { type ByteTable, NEVER } from './os-regex-parse.js';
import type { Subject } from './subject.js';

/** Bytes that a repeat takes in the time of one step, as a power of two. */
const BYTES_A_STEP_SHIFT = 3;
/** Beginning a search for a text once more, whose bytes were counted before. */
const SEARCH_STEPS = 4;

/** What an alternative of the short form consists of. */
type ShortParts = {
  /** Folded text in front; may be empty before a PLUS. */
  readonly prefix: string;
  /** Kind of the repeat: PLUS or STAR. */
  readonly repeat: number;
  /** What bytes mean to the repeat, see `OsRegexCode.tables`. */
  readonly table: ByteTable;
  /** Whether the repeat is a group. */
  readonly group: boolean;
  /** Folded bytes behind the repeat. */
  readonly suffix: Uint8Array;
  /** The class behind the repeat, where that is what follows. */
  readonly end: ByteTable | undefined;
};

/**
 * An alternative without `^` and `$` that is a text, one repeat, which may be a group, and a text or a class behind it, as most are that
 * take one field out of `name="value"`. The rules of decoding.md 1.3.4 come to few cases there, which one search and one
 * loop decide; rule letters are in the comments.
 */
export class ShortAlternative {
  readonly #prefix: string;
  readonly #plus: boolean;
  readonly #table: ByteTable;
  readonly #group: boolean;
  readonly #suffix: Uint8Array;
  readonly #end: ByteTable | undefined;
  /** Whether nothing follows the repeat. */
  readonly #open: boolean;

  private constructor(parts: ShortParts) {
    this.#prefix = parts.prefix;
    this.#plus = parts.repeat === PLUS;
    this.#table = parts.table;
    this.#group = parts.group;
    this.#suffix = parts.suffix;
    this.#end = parts.end;
    this.#open = parts.end === undefined && parts.suffix.length === 0;
  }

  /** Undefined where the alternative is none of these. */
  static of(code: OsRegexCode): ShortAlternative | undefined {
    const parts = shortParts(code);
    return parts === undefined ? undefined : new ShortAlternative(parts);
  }

  /**
   * Whether the subject matches from `begin` on; sets `end`, `captures` and `captureCount` of the state. What it takes comes off the steps
   * left.
   * @param found offset at which the text in front stands first in the subject; -1: not known
   */
  run(subject: Subject, state: MatchState, begin: number, found: number): boolean {
    const prefix = this.#prefix;
    if (prefix === '') return this.#runAnywhere(subject, state, begin);
    let at = found;
    let searched = false;
    if (found < begin) {
      at = this.#find(subject, state, begin, searched);
      searched = true;
    }
    while (at >= 0) {
      const open = at + prefix.length;
      const behind = this.#take(subject, state, open);
      if (state.stepsLeft < 0) return state.giveUp();
      if (behind === OVER) return false;
      if (behind >= 0) return this.#accept(subject, state, begin, open, behind);
      // D
      at = this.#find(subject, state, at + 1, searched);
      searched = true;
    }
    return state.stepsLeft < 0 && state.giveUp();
  }

  /** The pieces of a search do not overlap: together they are one pass. */
  #find(subject: Subject, state: MatchState, from: number, searched: boolean): number {
    const prefix = this.#prefix;
    state.stepsLeft -= searched ? SEARCH_STEPS : subject.searchSteps(prefix.charCodeAt(0));
    return subject.foldedText.indexOf(prefix, from);
  }

  /** As `run`, where the repeat stands in front. */
  #runAnywhere(subject: Subject, state: MatchState, begin: number): boolean {
    const { bytes, length } = subject;
    const table = this.#table;
    let open = begin;
    while (open < length) {
      const from = open;
      while (open < length && table[bytes[open] ?? 0] === OUTSIDE) open += 1;
      state.stepsLeft -= (open - from) >> BYTES_A_STEP_SHIFT;
      const behind = this.#take(subject, state, open);
      if (state.stepsLeft < 0) return state.giveUp();
      if (behind === OVER) return false;
      if (behind >= 0) return this.#accept(subject, state, begin, open, behind);
      // D: nothing that a match begins with was taken, so that it goes on behind the byte that did not fit.
      open = TRIED - behind + 1;
    }
    return false;
  }

  /**
   * Takes what the repeat takes from an offset on, and what is behind it.
   * @returns offset behind the repeat; OVER where the subject ended, after which nothing is tried (E); TRIED less the offset of the byte
   *   that did not fit
   */
  #take(subject: Subject, state: MatchState, open: number): number {
    const { bytes, length } = subject;
    const table = this.#table;
    const goesOn = this.#open ? LAST : STAY;
    let at = open;
    for (;;) {
      const from = at;
      if (this.#plus) {
        // B.4: the first byte is taken whatever follows.
        if (at >= length) return this.#spend(state, OVER, 0);
        if (table[bytes[at] ?? 0] === OUTSIDE) return this.#spend(state, TRIED - at, 0);
        at += 1;
      }
      while (at < length && table[bytes[at] ?? 0] === goesOn) at += 1;
      if (this.#open) return this.#spend(state, at, at - from);
      if (at >= length) return this.#spend(state, OVER, at - from);
      const fitting = this.#fitting(subject, at);
      this.#spend(state, 0, at - from + fitting);
      if (fitting === ALL) return at;
      if (at + fitting >= length) return OVER;
      // Outside of the class there is no choice point.
      if (table[bytes[at] ?? 0] === OUTSIDE) return TRIED - at;
      at += 1;
    }
  }

  #spend(state: MatchState, result: number, bytes: number): number {
    state.stepsLeft -= 1 + (bytes >> BYTES_A_STEP_SHIFT);
    return result;
  }

  /** How many bytes from an offset on fit what is behind the repeat; ALL where that is complete. */
  #fitting({ bytes, length }: Subject, from: number): number {
    if (this.#end !== undefined) return this.#end[bytes[from] ?? 0] === 1 ? ALL : 0;
    const suffix = this.#suffix;
    for (let i = 0; i < suffix.length; i += 1) {
      if (from + i >= length || FOLD[bytes[from + i] ?? 0] !== suffix[i]) return i;
    }
    return ALL;
  }

  /** @param behind offset behind the repeat */
  #accept(subject: Subject, state: MatchState, begin: number, open: number, behind: number): true {
    const { length } = subject;
    state.captureCount = 0;
    // E: a group that nothing is left for is none.
    if (this.#group && open < length) {
      state.captures[0] = subject.text.slice(open, behind);
      state.captureCount = 1;
    }
    state.end = this.#endOf(open, behind, length) - begin;
    return true;
  }

  /** Offset of "the last byte matched" (decoding.md 1.3.6). */
  #endOf(open: number, behind: number, length: number): number {
    if (this.#end !== undefined) return behind;
    if (!this.#open) return behind + this.#suffix.length - 1;
    const first = this.#plus ? open : open - 1;
    if (behind === length) return first;
    if (this.#group) return this.#plus ? first : behind - 1;
    // B'.1
    return behind > open ? behind : first;
  }
}

/** All bytes fit. */
const ALL = -1;
/** The subject ended. */
const OVER = -1;
const TRIED = -2;

function shortParts(code: OsRegexCode): ShortParts | undefined {
  const { kinds, bytes, tables, length, marks, anchoredStart, anchoredEnd } = code;
  if (anchoredStart || anchoredEnd || marks > 2) return undefined;
  let p = 0;
  while (kinds[p] === LITERAL) p += 1;
  const prefix = bytes.subarray(0, p);
  const group = kinds[p] === MARK;
  if (group) p += 1;
  const repeat = kinds[p];
  const table = tables[p];
  if ((repeat !== PLUS && repeat !== STAR) || table === undefined || group !== marks > 0) return undefined;
  p += 1;
  if (group && kinds[p] !== MARK) return undefined;
  if (group) p += 1;
  const end = kinds[p] === CLASS && p + 1 === length ? tables[p] : undefined;
  const suffix = bytes.subarray(p, length);
  if (end === undefined && kinds.subarray(p).some((kind) => kind !== LITERAL)) return undefined;
  if (prefix.length > MAX_PREFIX || prefix.includes(NEVER) || suffix.includes(NEVER)) return undefined;
  // Without a text in front, where the next trial begins would depend on how much of a longer text fitted.
  if (prefix.length === 0 && (repeat === STAR || suffix.length > 1)) return undefined;
  return {
    prefix: Buffer.from(prefix).toString('latin1'),
    repeat,
    table,
    group,
    suffix: Uint8Array.from(end === undefined ? suffix : []),
    end,
  };
}
