import { FOLD } from './fold-ascii.js';
import { PatternError } from './pattern-error.js';
import { MAX_PATTERN_BYTES } from './pattern-limits.js';

/** 256 flags: which bytes a class accepts. Both cases of a letter always have the same flag. */
export type ByteTable = Uint8Array;

/** What an alternative consists of (decoding.md 1.3.4). A quantifier is an element of its own behind its class. */
export type OsRegexElement =
  | { readonly kind: 'class'; readonly table: ByteTable; readonly quantifier: '' | '+' | '*' }
  | { readonly kind: 'quantifier'; readonly byte: number }
  | { readonly kind: 'literal'; readonly byte: number }
  | { readonly kind: 'mark'; readonly number: number };

export type OsRegexAlternative = {
  readonly elements: readonly OsRegexElement[];
  /** Number of marks: twice the number of groups. */
  readonly marks: number;
  readonly anchoredStart: boolean;
  readonly anchoredEnd: boolean;
};

/** Stands for a literal byte >= 0x80, which equals no subject byte (decoding.md 1.3.2). */
export const NEVER = 0x100;

/**
 * Parses an OS_Regex into its alternatives (decoding.md 1.3.1).
 * @throws PatternError code 3 (too long), 6 (bad escape), 7 (groups: nested, unbalanced, or `|` inside)
 */
export function parseOsRegex(source: string): OsRegexAlternative[] {
  if (source.length > MAX_PATTERN_BYTES) throw new PatternError(3, 'Pattern is too long', MAX_PATTERN_BYTES);
  const alternatives: OsRegexAlternative[] = [];
  let elements: OsRegexElement[] = [];
  let marks = 0;
  let anchoredStart = false;
  let anchoredEnd = false;
  let start = 0;
  let inGroup = false;
  const finish = (): void => {
    alternatives.push({ elements, marks, anchoredStart, anchoredEnd });
    elements = [];
    marks = 0;
    anchoredStart = false;
    anchoredEnd = false;
  };
  for (let at = 0; at < source.length; at += 1) {
    const char = source.charAt(at);
    if (char === '\\') {
      const table = CLASSES.get(source.charAt(at + 1));
      if (table === undefined) {
        throw new PatternError(6, `Escape '${source.slice(at, at + 2)}' does not exist in this language`, at);
      }
      at += 1;
      const next = source.charAt(at + 1);
      const quantifier = next === '+' || next === '*' ? next : '';
      elements.push({ kind: 'class', table, quantifier });
      if (quantifier !== '') {
        at += 1;
        elements.push({ kind: 'quantifier', byte: quantifier.charCodeAt(0) });
      }
    } else if (char === '(' || char === ')') {
      if (inGroup === (char === '(')) throw new PatternError(7, 'Groups must be balanced and not nested', at);
      inGroup = !inGroup;
      elements.push({ kind: 'mark', number: marks });
      marks += 1;
    } else if (char === '|') {
      if (inGroup) throw new PatternError(7, "'|' is not allowed inside a group", at);
      finish();
      start = at + 1;
    } else if (char === '^' && at === start) {
      anchoredStart = true;
    } else if (char === '$' && (at + 1 === source.length || source.charAt(at + 1) === '|')) {
      anchoredEnd = true;
    } else {
      const byte = FOLD[char.charCodeAt(0)] ?? NEVER;
      elements.push({ kind: 'literal', byte: byte >= 0x80 ? NEVER : byte });
    }
  }
  if (inGroup) throw new PatternError(7, 'Groups must be balanced and not nested', source.length);
  finish();
  return alternatives;
}

const PUNCTUATION = '!"#$%&\'()*+,-.:;<=>?[]{|}';

/** Class escapes and their exact byte sets (decoding.md 1.3.2). */
const CLASSES: ReadonlyMap<string, ByteTable> = new Map([
  ['d', tableOf(isDigit)],
  ['w', tableOf(isWord)],
  ['s', tableOf((byte) => byte === 0x20)],
  ['t', tableOf((byte) => byte === 0x09)],
  ['p', tableOf((byte) => PUNCTUATION.includes(String.fromCharCode(byte)))],
  ['.', tableOf(() => true)],
  ['D', tableOf((byte) => !isDigit(byte))],
  ['W', tableOf((byte) => !isWord(byte))],
  ['S', tableOf((byte) => byte !== 0x20)],
  ...['(', ')', '\\', '$', '|', '<'].map((text): [string, ByteTable] => [
    text,
    tableOf((byte) => byte === text.charCodeAt(0)),
  ]),
]);

function tableOf(accepts: (byte: number) => boolean): ByteTable {
  return Uint8Array.from({ length: 256 }, (_, byte) => (accepts(byte) ? 1 : 0));
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isWord(byte: number): boolean {
  const folded = FOLD[byte] ?? byte;
  return isDigit(byte) || (folded >= 0x61 && folded <= 0x7a) || '-@_'.includes(String.fromCharCode(byte));
}
