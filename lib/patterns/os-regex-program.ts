import { MAX_PATTERN_BYTES } from './os-match.js';
import { PatternError } from './pattern-error.js';

/** Kinds of elements of a compiled alternative (decoding.md 1.3.4). */
export const CLASS = 0;
export const LITERAL = 1;
export const MARK = 2;

export const NO_QUANTIFIER = 0;
export const PLUS = 0x2b;
export const STAR = 0x2a;

/** One alternative of an OS_Regex: parallel arrays, one entry an element. */
export type OsRegexProgram = {
  readonly length: number;
  readonly kinds: Uint8Array;
  /** Folded byte of a LITERAL (0 for others; bytes >= 0x80 are kept as 0x100, which no subject byte equals). */
  readonly bytes: Uint16Array;
  /** Table of 256 flags for a CLASS. */
  readonly sets: readonly Uint8Array[];
  /** Quantifier byte directly after a CLASS, else 0. The quantifier is an element of its own as well. */
  readonly quantifiers: Uint8Array;
  /** Number of the MARK among the marks of the alternative. */
  readonly markNumbers: Uint8Array | Uint16Array;
  readonly marks: number;
  readonly anchoredStart: boolean;
  readonly anchoredEnd: boolean;
};

const NEVER = 0x100;
const EMPTY_SET = new Uint8Array(256);

function tableOf(accepts: (byte: number) => boolean): Uint8Array {
  const table = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte += 1) if (accepts(byte)) table[byte] = 1;
  return table;
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;
const isWord = (byte: number): boolean =>
  isDigit(byte) ||
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  '-@_'.includes(String.fromCharCode(byte));
const PUNCTUATION = '!"#$%&\'()*+,-.:;<=>?[]{|}';

/** Class escapes and their exact byte sets (decoding.md 1.3.2). */
const CLASSES: ReadonlyMap<string, Uint8Array> = new Map([
  ['d', tableOf(isDigit)],
  ['w', tableOf(isWord)],
  ['s', tableOf((byte) => byte === 0x20)],
  ['t', tableOf((byte) => byte === 0x09)],
  ['p', tableOf((byte) => PUNCTUATION.includes(String.fromCharCode(byte)))],
  ['.', tableOf(() => true)],
  ['D', tableOf((byte) => !isDigit(byte))],
  ['W', tableOf((byte) => !isWord(byte))],
  ['S', tableOf((byte) => byte !== 0x20)],
  ...['(', ')', '\\', '$', '|', '<'].map(
    (text) => [text, tableOf((byte) => byte === text.charCodeAt(0))] as [string, Uint8Array],
  ),
]);

/** Lower-cases an ASCII letter's code, leaves everything else. */
export function foldByte(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

/**
 * Compiles an OS_Regex into its alternatives.
 * @throws PatternError code 3 (too long), 6 (bad escape), 7 (groups: nested, unbalanced, or `|` inside)
 */
export function compileOsRegex(source: string): OsRegexProgram[] {
  if (source.length > MAX_PATTERN_BYTES) throw new PatternError(3, 'Pattern is too long', MAX_PATTERN_BYTES);
  const programs: OsRegexProgram[] = [];
  let builder = new Builder();
  let start = 0;
  let inGroup = false;
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at] ?? '';
    if (char === '\\') {
      const set = CLASSES.get(source[at + 1] ?? '');
      if (set === undefined) {
        throw new PatternError(6, `Escape '${source.slice(at, at + 2)}' does not exist in this language`, at);
      }
      at += 1;
      const next = source[at + 1];
      const quantifier = next === '+' || next === '*' ? next.charCodeAt(0) : NO_QUANTIFIER;
      builder.addClass(set, quantifier);
      if (quantifier !== NO_QUANTIFIER) {
        at += 1;
        builder.addLiteral(quantifier);
      }
    } else if (char === '(' || char === ')') {
      if (inGroup === (char === '(')) throw new PatternError(7, 'Groups must be balanced and not nested', at);
      inGroup = !inGroup;
      builder.addMark();
    } else if (char === '|') {
      if (inGroup) throw new PatternError(7, "'|' is not allowed inside a group", at);
      programs.push(builder.finish());
      builder = new Builder();
      start = at + 1;
    } else if (char === '^' && at === start) {
      builder.anchoredStart = true;
    } else if (char === '$' && (at + 1 === source.length || source[at + 1] === '|')) {
      builder.anchoredEnd = true;
    } else {
      const byte = foldByte(char.charCodeAt(0));
      builder.addLiteral(byte >= 0x80 ? NEVER : byte);
    }
  }
  if (inGroup) throw new PatternError(7, 'Groups must be balanced and not nested', source.length);
  programs.push(builder.finish());
  return programs;
}

class Builder {
  readonly #kinds: number[] = [];
  readonly #bytes: number[] = [];
  readonly #sets: Uint8Array[] = [];
  readonly #quantifiers: number[] = [];
  readonly #markNumbers: number[] = [];
  #marks = 0;
  anchoredStart = false;
  anchoredEnd = false;

  addClass(set: Uint8Array, quantifier: number): void {
    this.#add(CLASS, 0, set, quantifier, 0);
  }

  addLiteral(byte: number): void {
    this.#add(LITERAL, byte, EMPTY_SET, NO_QUANTIFIER, 0);
  }

  addMark(): void {
    this.#add(MARK, 0x28, EMPTY_SET, NO_QUANTIFIER, this.#marks);
    this.#marks += 1;
  }

  #add(kind: number, byte: number, set: Uint8Array, quantifier: number, mark: number): void {
    this.#kinds.push(kind);
    this.#bytes.push(byte);
    this.#sets.push(set);
    this.#quantifiers.push(quantifier);
    this.#markNumbers.push(mark);
  }

  finish(): OsRegexProgram {
    return {
      length: this.#kinds.length,
      kinds: Uint8Array.from(this.#kinds),
      bytes: Uint16Array.from(this.#bytes),
      sets: this.#sets,
      quantifiers: Uint8Array.from(this.#quantifiers),
      markNumbers: Uint16Array.from(this.#markNumbers),
      marks: this.#marks,
      anchoredStart: this.anchoredStart,
      anchoredEnd: this.anchoredEnd,
    };
  }
}
