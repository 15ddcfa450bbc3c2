import type { PatternLanguage } from '../../../../lib/patterns/matcher.js';
import type { Random } from '../../../chaos/random.js';

/** A pattern, and texts that nearly match it. */
export type HostilePattern = {
  readonly language: PatternLanguage;
  readonly source: string;
  /** Pieces that lines are made of, so that the pattern gets far in many ways. */
  readonly pieces: readonly string[];
};

const LETTERS = ['a', 'b', 'x', 'ab', 'aa', '1', ' ', 'abc'] as const;

/** Makes patterns of all languages; what does not compile is for the caller to leave out. */
export function hostilePattern(random: Random): HostilePattern {
  const language = random.weighted<PatternLanguage>([
    [5, 'pcre2'],
    [3, 'osregex'],
    [1, 'osmatch'],
  ]);
  const maker = new PatternMaker(random);
  const source = language === 'pcre2' ? maker.pcre2() : language === 'osregex' ? maker.osRegex() : maker.osMatch();
  return { language, source, pieces: [...maker.pieces] };
}

class PatternMaker {
  readonly pieces = new Set<string>();
  readonly #random: Random;
  #groups = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  pcre2(): string {
    const random = this.#random;
    switch (random.integer(0, 11)) {
      case 0:
        return this.#manyWords('|', random.integer(2, 1500));
      case 1:
        return `(?i)(?:${this.#manyWords('|', random.integer(2, 400))})\\W`;
      case 2:
        return `${`(${this.#atom()}?)`.repeat(random.integer(1, 300))}${this.#atom()}`;
      case 3:
        return `${this.#atom()}{${String(random.integer(1, 900))},}${this.#atom()}`;
      case 4:
        return `((?:${this.#sequence(1)}|(?1))*)${this.#atom()}`;
      default: {
        const start = random.chance(0.3) ? '^' : random.chance(0.2) ? '(?i)' : '';
        const end = random.chance(0.4) ? '$' : random.chance(0.5) ? '!' : '';
        return start + this.#sequence(random.integer(1, 4)) + end;
      }
    }
  }

  osRegex(): string {
    const random = this.#random;
    if (random.chance(0.15)) return this.#manyWords('|', random.integer(2, 2000));
    const alternatives = Array.from({ length: random.chance(0.3) ? random.integer(2, 40) : 1 }, () => {
      let source = random.chance(0.3) ? '^' : '';
      let open = false;
      for (let i = random.integer(1, 14); i > 0; i -= 1) {
        if (random.chance(0.15)) {
          open = !open;
          source += open ? '(' : ')';
        }
        const repeated = `\\${random.pick(['w', 'd', 's', 'S', 'D', 'W', '.', 'p'])}${random.pick(['', '+', '*', '*'])}`;
        source += random.chance(0.6) ? repeated : this.#literal();
      }
      return source + (open ? ')' : '') + (random.chance(0.2) ? '$' : '');
    });
    return alternatives.join('|');
  }

  osMatch(): string {
    const random = this.#random;
    if (random.chance(0.3)) return `b${'a'.repeat(random.integer(1, 20_000))}`;
    return (random.chance(0.2) ? '!' : '') + this.#manyWords('|', random.integer(1, 3000));
  }

  #literal(): string {
    const text = this.#random.pick(LETTERS);
    this.pieces.add(text);
    return text;
  }

  #manyWords(separator: string, count: number): string {
    const random = this.#random;
    const stem = random.pick(['', 'a', 'ab', 'xa']);
    const words = Array.from({ length: count }, () => stem + random.integer(0, 1 << 20).toString(36));
    const [first = '', second = ''] = words;
    this.pieces
      .add(first.slice(0, -1))
      .add(second.slice(0, -1))
      .add(stem === '' ? 'a' : stem);
    let text = '';
    for (const word of words) {
      if (text.length + word.length > 20_000) break;
      text += (text === '' ? '' : separator) + word;
    }
    return text;
  }

  #sequence(depth: number): string {
    let source = '';
    for (let i = this.#random.integer(1, 4); i > 0; i -= 1) source += this.#item(depth);
    return source;
  }

  #item(depth: number): string {
    const random = this.#random;
    if (depth === 0 || random.chance(0.4)) return this.#atom() + this.#quantifier();
    const body = random.chance(0.4)
      ? Array.from({ length: random.integer(2, 4) }, () => this.#sequence(depth - 1)).join('|')
      : this.#sequence(depth - 1);
    switch (random.integer(0, 9)) {
      case 0:
        return `(?=${body})`;
      case 1:
        return `(?!${body})`;
      case 2:
        return `(?>${body})${this.#quantifier()}`;
      case 3:
        // In a ruleset a look-behind would begin a comment.
        return `\\B(?:${body})${this.#quantifier()}`;
      case 4:
        return this.#groups === 0 ? `(?:${body})` : `\\${String(random.integer(1, this.#groups))}${this.#quantifier()}`;
      case 5:
        return this.#groups === 0 ? `(?:${body})+` : `(?(${String(random.integer(1, this.#groups))})a|b)`;
      case 6:
      case 7:
        this.#groups += 1;
        return `(${body})${this.#quantifier()}`;
      default:
        return `(?:${body})${this.#quantifier()}`;
    }
  }

  #atom(): string {
    return this.#random.chance(0.4)
      ? this.#literal()
      : this.#random.pick(['.', '\\w', '\\d', '\\s', '\\S', '[ab]', '[^x]', '[a-z0-9]', '\\b', '[^,]']);
  }

  #quantifier(): string {
    return this.#random.pick(['', '', '*', '+', '+', '?', '*?', '+?', '*+', '{2,5}', '{1,40}', '{3}', '{0,9}?']);
  }
}
