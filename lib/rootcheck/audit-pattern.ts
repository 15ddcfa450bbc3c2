import { compilePattern } from '../patterns/compile-pattern.js';
import { foldAscii } from '../patterns/fold-ascii.js';
import type { MatchContext } from '../patterns/matcher.js';

/** One part of a pattern: what a line must be, or must not be. */
type PatternPart = { readonly negated: boolean; readonly holds: (line: string, context: MatchContext) => boolean };

/** Steps of a regex for one line. */
const STEPS = 200_000;

/**
 * A pattern of a `system_audit` file (integrity-and-inventory.md 9.3): parts joined by ` && `, each `=:text`, `r:regex`,
 * `<:text`, `>:text` or plain text, maybe behind a `!`. Texts and lines are byte strings.
 */
export class AuditPattern {
  /** Every part is negated: such a pattern must hold for all lines of a file. */
  readonly isNegative: boolean;
  readonly #parts: readonly PatternPart[];

  /** @throws PatternError */
  constructor(source: string) {
    this.#parts = source.split(' && ').map((part) => readPart(part.trim()));
    this.isNegative = this.#parts.every(({ negated }) => negated);
  }

  /** Whether one line, or the path of a process, is as it should be. */
  test(line: string, context: MatchContext): boolean {
    return this.#parts.every(({ negated, holds }) => holds(line, context) !== negated);
  }
}

function readPart(text: string): PatternPart {
  const negated = text.startsWith('!');
  const source = negated ? text.slice(1) : text;
  const value = source.slice(2);
  switch (source.slice(0, 2)) {
    case 'r:': {
      const matcher = compilePattern('osregex', value);
      return {
        negated,
        holds: (line, context) => {
          context.stepsLeft = STEPS;
          return matcher.test(line, context);
        },
      };
    }
    case '<:':
      return { negated, holds: (line) => line < value };
    case '>:':
      return { negated, holds: (line) => line > value };
    case '=:':
      return { negated, holds: isEqual(value) };
    default:
      return { negated, holds: isEqual(source) };
  }
}

function isEqual(text: string): (line: string) => boolean {
  const folded = foldAscii(text);
  return (line) => line.length === text.length && foldAscii(line) === folded;
}
