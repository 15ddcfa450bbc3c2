import { foldAscii, hasHighByte } from './fold-ascii.js';
import type { MatchContext, Matcher } from './matcher.js';
import { PatternError } from './pattern-error.js';
import { pairsOf, type Subject } from './subject.js';

/** A pattern longer than this (bytes) is refused (decoding.md 1.2 and 1.3.1). */
export const MAX_PATTERN_BYTES = 20480;

const STARTS = 0;
const ENDS = 1;
const EQUALS = 2;
const CONTAINS = 3;

type Alternative = {
  readonly kind: typeof STARTS | typeof ENDS | typeof EQUALS | typeof CONTAINS;
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly pairs: Uint16Array;
};

/** OS_Match: alternatives of plain texts, anchored or not, case-insensitive (decoding.md 1.2). */
export class OsMatch implements Matcher {
  readonly language = 'osmatch';
  readonly source: string;
  readonly cost = 'linear';
  readonly #negated: boolean;
  readonly #always: boolean;
  readonly #alternatives: readonly Alternative[];

  /** @throws PatternError code 3 when the pattern is longer than 20480 bytes */
  constructor(source: string) {
    if (source.length > MAX_PATTERN_BYTES) throw new PatternError(3, 'Pattern is too long', MAX_PATTERN_BYTES);
    this.source = source;
    this.#negated = source.startsWith('!');
    const texts = foldAscii(this.#negated ? source.slice(1) : source).split('|');
    this.#always = texts.some((text) => text === '' || text === '^' || text === '$');
    // A substring with a byte >= 0x80 never matches in the reference (decoding.md 1.2 "Non-ASCII").
    this.#alternatives = this.#always
      ? []
      : [...new Set(texts)].map(classify).filter(({ kind, text }) => kind !== CONTAINS || !hasHighByte(text));
  }

  test(subject: string, context: MatchContext): boolean {
    return (this.#always || this.#anyOf(context.subject(subject))) !== this.#negated;
  }

  /** OS_Match knows neither captures nor an end position: both are reported as none. */
  exec(subject: string, context: MatchContext): boolean {
    if (!this.test(subject, context)) return false;
    context.end = -1;
    context.captureCount = 0;
    return true;
  }

  #anyOf(subject: Subject): boolean {
    for (const alternative of this.#alternatives) if (matches(alternative, subject)) return true;
    return false;
  }
}

function matches(alternative: Alternative, subject: Subject): boolean {
  const { kind, bytes } = alternative;
  if (kind === CONTAINS) {
    return subject.mayContain(alternative.pairs) && subject.foldedText.includes(alternative.text);
  }
  const start = subject.length - bytes.length;
  if (start < 0 || (kind === EQUALS && start !== 0)) return false;
  return sameBytes(bytes, subject.folded, kind === ENDS ? start : 0);
}

function sameBytes(bytes: Uint8Array, folded: Uint8Array, start: number): boolean {
  for (let i = 0; i < bytes.length; i += 1) if (folded[start + i] !== bytes[i]) return false;
  return true;
}

function classify(text: string): Alternative {
  const start = text.startsWith('^');
  const end = text.endsWith('$');
  const body = text.slice(start ? 1 : 0, end ? -1 : undefined);
  const kind = start ? (end ? EQUALS : STARTS) : end ? ENDS : CONTAINS;
  return { kind, text: body, bytes: Buffer.from(body, 'latin1'), pairs: pairsOf(body) };
}
