import { foldAscii, hasHighByte } from './fold-ascii.js';
import { Literal } from './literal.js';
import type { MatchContext, Matcher } from './matcher.js';
import { PatternError } from './pattern-error.js';
import { MAX_PATTERN_BYTES } from './pattern-limits.js';
import type { Requirements } from './requirement.js';
import { ALWAYS } from './subject.js';

/** OS_Match: alternatives of plain texts, anchored or not, case-insensitive (decoding.md 1.2). */
export class OsMatch implements Matcher {
  readonly language = 'osmatch';
  readonly source: string;
  readonly cost = 'linear';
  readonly requirements: Requirements;
  readonly #negated: boolean;
  readonly #always: boolean;
  readonly #alternatives: readonly Literal[];
  /** By alternative: two entries of the index of a subject that has it. Most subjects have none of tens of texts. */
  readonly #first: Uint16Array;
  readonly #second: Uint16Array;

  /** @throws PatternError code 3 when the pattern is longer than 20480 bytes */
  constructor(source: string) {
    if (source.length > MAX_PATTERN_BYTES) throw new PatternError(3, 'Pattern is too long', MAX_PATTERN_BYTES);
    this.source = source;
    this.#negated = source.startsWith('!');
    const texts = foldAscii(this.#negated ? source.slice(1) : source).split('|');
    this.#always = texts.some((text) => text === '' || text === '^' || text === '$');
    this.#alternatives = this.#always ? [] : [...new Set(texts)].flatMap(alternative);
    const pairs = this.#alternatives.map(({ requirement }) => requirement.pairs);
    this.#first = Uint16Array.from(pairs, ([rarest = ALWAYS]) => rarest);
    this.#second = Uint16Array.from(pairs, ([, next = ALWAYS]) => next);
    const known = !this.#always && !this.#negated;
    this.requirements = known ? this.#alternatives.map(({ requirement }) => requirement) : undefined;
  }

  test(subject: string, context: MatchContext): boolean {
    return this.#matches(subject, context, 0);
  }

  /** OS_Match knows neither captures nor an end position: both are reported as none. */
  exec(subject: string, context: MatchContext, from = 0): boolean {
    if (!this.#matches(subject, context, from)) return false;
    context.end = -1;
    context.captureCount = 0;
    return true;
  }

  #matches(subject: string, context: MatchContext, from: number): boolean {
    if (this.#always) return !this.#negated;
    const loaded = context.subject(subject);
    const { seen, round } = loaded;
    const first = this.#first;
    const second = this.#second;
    for (let i = 0; i < first.length; i += 1) {
      if (seen[first[i] ?? 0] !== round || seen[second[i] ?? 0] !== round) continue;
      const found = this.#alternatives[i]?.find(loaded, context, from) ?? -1;
      if (found >= 0) return !this.#negated;
      // A pattern has room for thousands of texts.
      if (context.stepsLeft < 0) return context.giveUp();
    }
    return context.stepsLeft < 0 ? context.giveUp() : this.#negated;
  }
}

function alternative(text: string): Literal[] {
  const start = text.startsWith('^');
  const end = text.endsWith('$');
  const body = text.slice(start ? 1 : 0, end ? -1 : undefined);
  // A substring with a byte >= 0x80 never matches in the reference (decoding.md 1.2 "Non-ASCII").
  return !start && !end && hasHighByte(body) ? [] : [new Literal(body, start, end)];
}
