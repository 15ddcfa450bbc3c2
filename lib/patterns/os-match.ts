import { foldAscii } from './fold-ascii.js';
import type { MatchContext, Matcher } from './matcher.js';
import { MAX_PATTERN_BYTES } from './os-regex-program.js';
import { PatternError } from './pattern-error.js';

type Alternative = { readonly kind: 'always' | 'equals' | 'starts' | 'ends' | 'contains'; readonly text: string };

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
    const alternatives = foldAscii(this.#negated ? source.slice(1) : source)
      .split('|')
      .map(classify);
    this.#always = alternatives.some((alternative) => alternative.kind === 'always');
    // A substring with a byte >= 0x80 never matches in the reference (decoding.md 1.2 "Non-ASCII").
    this.#alternatives = alternatives.filter(
      (alternative) => alternative.kind !== 'contains' || !/[\x80-\xff]/.test(alternative.text),
    );
  }

  test(subject: string, context: MatchContext): boolean {
    return (this.#always || this.#anyOf(context.folded(subject))) !== this.#negated;
  }

  /** OS_Match knows neither captures nor an end position: both are reported as none. */
  exec(subject: string, context: MatchContext): boolean {
    if (!this.test(subject, context)) return false;
    context.end = -1;
    context.captureCount = 0;
    return true;
  }

  #anyOf(subject: string): boolean {
    for (const { kind, text } of this.#alternatives) {
      switch (kind) {
        case 'contains':
          if (subject.includes(text)) return true;
          break;
        case 'starts':
          if (subject.startsWith(text)) return true;
          break;
        case 'ends':
          if (subject.endsWith(text)) return true;
          break;
        case 'equals':
          if (subject === text) return true;
          break;
        case 'always':
          return true;
      }
    }
    return false;
  }
}

function classify(text: string): Alternative {
  const start = text.startsWith('^');
  const end = text.endsWith('$') && !(start && text.length < 2);
  if (text === '' || text === '^' || text === '$') return { kind: 'always', text: '' };
  if (start && end) return { kind: 'equals', text: text.slice(1, -1) };
  if (end) return { kind: 'ends', text: text.slice(0, -1) };
  if (start) return { kind: 'starts', text: text.slice(1) };
  return { kind: 'contains', text };
}

/**
 * The older word matcher of group and list comparisons (decoding.md 1.6): alternatives split by `|`, a leading `^`
 * anchors, otherwise substring; `$` and `!` are literal. An empty pattern is false, an empty last alternative true.
 */
export function wordMatch(pattern: string, subject: string): boolean {
  if (pattern === '') return false;
  const folded = foldAscii(subject);
  return foldAscii(pattern)
    .split('|')
    .some((word, index, words) => {
      if (word === '') return index === words.length - 1;
      return word.startsWith('^') ? folded.startsWith(word.slice(1)) : folded.includes(word);
    });
}
