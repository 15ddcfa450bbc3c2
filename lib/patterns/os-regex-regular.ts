import type { MatchContext } from './matcher.js';
import type { OsRegexCode } from './os-regex-code.js';
import { type OsRegexForm, type RegExpTail, toOsRegexForm } from './os-regex-to-reg-exp.js';
import { pairsOf, type Subject } from './subject.js';

/** Longest subject (bytes) on which the work of a form without choices, and of one with one, is bounded whatever the bytes are. */
const SURE_LENGTHS: readonly number[] = [4096, 256];
/** Work (bytes looked at) that others may take at worst, some 20 us: V8 cannot be interrupted. */
const MAX_WORK = 16_000;
/** Bytes that V8 looks at in the time of one step, as a power of two. */
const BYTES_A_STEP_SHIFT = 4;

/** The regular form of an alternative: V8 compiles it to machine code, some four times faster than our own machine. */
export class RegularAlternative {
  readonly #captures: number;
  readonly #regExp: RegExp;
  readonly #tail: RegExpTail;
  readonly #stops: readonly number[];
  readonly #doubled: readonly string[];
  readonly #doubledPairs: Uint16Array;

  private constructor(code: OsRegexCode, form: OsRegexForm) {
    this.#captures = code.marks / 2;
    this.#regExp = new RegExp(form.source, 'y');
    this.#tail = form.tail;
    this.#stops = form.stops;
    this.#doubled = form.doubled;
    this.#doubledPairs = pairsOf(form.doubled);
  }

  /** Undefined where the alternative has no regular form. */
  static of(code: OsRegexCode): RegularAlternative | undefined {
    const form = toOsRegexForm(code);
    return form === undefined ? undefined : new RegularAlternative(code, form);
  }

  /**
   * Steps that a match on the subject from `from` on counts for; -1 where the work has no such bound, or where the form is not
   * exact, so that our own machine has to run and count.
   */
  steps(subject: Subject, from: number): number {
    const length = subject.length - from;
    const stops = this.#stops;
    if (this.#doubled.length > 0 && this.#hasDoubled(subject)) return -1;
    if (length <= (SURE_LENGTHS[stops.length] ?? 0)) return 1 + (length >> BYTES_A_STEP_SHIFT);
    if (length > MAX_WORK) return -1;
    const { counts } = subject;
    let work = length;
    for (const stop of stops) {
      const isLetter = stop >= 0x61 && stop <= 0x7a;
      work *= 1 + (counts[stop] ?? 0) + (isLetter ? (counts[stop - 0x20] ?? 0) : 0);
    }
    return work <= MAX_WORK ? 1 + (work >> BYTES_A_STEP_SHIFT) : -1;
  }

  #hasDoubled(subject: Subject): boolean {
    return subject.mayContainOne(this.#doubledPairs) && this.#doubled.some((text) => subject.foldedText.includes(text));
  }

  /** Whether the subject matches from `from` on, where `steps` has a bound; sets `end`, `captures` and `captureCount` of the context. */
  run({ text, length }: Subject, context: MatchContext, from: number): boolean {
    const regExp = this.#regExp;
    regExp.lastIndex = from;
    if (this.#captures === 0 && this.#tail === 'byte') {
      if (!regExp.test(text)) return false;
      context.end = regExp.lastIndex - 1 - from;
      context.captureCount = 0;
      return true;
    }
    const match = regExp.exec(text);
    if (match === null) return false;
    const { captures } = context;
    for (let i = 0; i < this.#captures; i += 1) captures[i] = match[i + 1] ?? '';
    // A group of nothing at the end of the subject is none.
    const none = this.#tail === 'marked-rest' && match[this.#captures] === '';
    context.captureCount = none ? this.#captures - 1 : this.#captures;
    context.end = this.#endOf(match, regExp.lastIndex, length) - from;
    return true;
  }

  /** Offset of "the last byte matched" (decoding.md 1.3.6). */
  #endOf(match: RegExpExecArray, behind: number, length: number): number {
    if (this.#tail === 'byte') return behind - 1;
    if (this.#tail === 'repeat' && behind < length) return behind;
    const begin = behind - (match[match.length - 1]?.length ?? 0);
    return this.#tail === 'rest' || this.#tail === 'marked-rest' ? begin - 1 : begin;
  }
}
