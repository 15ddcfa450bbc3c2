import { compilePattern } from '../patterns/compile-pattern.js';
import { foldAscii } from '../patterns/fold-ascii.js';
import type { Matcher } from '../patterns/matcher.js';
import { PatternError } from '../patterns/pattern-error.js';
import { every, FOUND, invalid, negate, NOT_FOUND, type Outcome } from './finding.js';
import { type NumericComparison, readComparison, readInteger } from './numeric-comparison.js';
import type { StepBudget } from './step-budget.js';

/** Regex language of a policy or a check. */
export type ScaLanguage = 'osregex' | 'pcre2';

type Minterm = (line: string, budget: StepBudget) => Outcome;

const TOO_COSTLY = 'A regex took too many steps on a line';

/**
 * The pattern of a rule: minterms joined by ` && `, all of which must hold on one line. Each is `r:regex`,
 * `n:regex compare operator integer` or the text of the whole line, maybe behind a `!` (integrity-and-inventory.md 10.3).
 * Patterns and lines are byte strings.
 */
export class LinePattern {
  /** What is wrong with minterms: they are invalid on every line. */
  readonly problems: readonly string[];
  readonly #minterms: readonly Minterm[];

  constructor(source: string, language: ScaLanguage) {
    const problems: string[] = [];
    this.#minterms = source.split(' && ').map((text) => readMinterm(text, language, problems));
    this.problems = problems;
  }

  /** @param line without its line end */
  test(line: string, budget: StepBudget): Outcome {
    return every(this.#minterms, (minterm) => minterm(line, budget));
  }
}

function readMinterm(text: string, language: ScaLanguage, problems: string[]): Minterm {
  if (!text.startsWith('!')) return readPositive(text, language, problems);
  const positive = readPositive(text.slice(1), language, problems);
  return (line, budget) => negate(positive(line, budget));
}

function readPositive(text: string, language: ScaLanguage, problems: string[]): Minterm {
  const kind = text.slice(0, 2).toLowerCase();
  if (kind === 'r:') return regexMinterm(text.slice(2), language, problems);
  if (kind === 'n:') return numericMinterm(text.slice(2), language, problems);
  const folded = foldAscii(text);
  return (line) => (line.length === text.length && foldAscii(line) === folded ? FOUND : NOT_FOUND);
}

function regexMinterm(source: string, language: ScaLanguage, problems: string[]): Minterm {
  const matcher = compiled(source, language, problems);
  if (typeof matcher === 'string') return () => invalid(matcher);
  return (line, budget) => {
    const matched = budget.test(matcher, line);
    if (matched === undefined) return invalid(TOO_COSTLY);
    return matched ? FOUND : NOT_FOUND;
  };
}

function numericMinterm(text: string, language: ScaLanguage, problems: string[]): Minterm {
  const comparison = readComparison(text);
  if (typeof comparison === 'string') {
    const problem = `Invalid comparison 'n:${text}': ${comparison}`;
    problems.push(problem);
    return () => invalid(problem);
  }
  const matcher = compiled(comparison.regex, language, problems);
  if (typeof matcher === 'string') return () => invalid(matcher);
  return (line, budget) => compare(comparison, matcher, line, budget);
}

function compare({ regex, holds }: NumericComparison, matcher: Matcher, line: string, budget: StepBudget): Outcome {
  const match = budget.capture(matcher, line);
  if (match === undefined) return invalid(TOO_COSTLY);
  if (match === false) return NOT_FOUND;
  if (match.text === undefined) return invalid(`No number was captured by regex '${regex}'`);
  const value = readInteger(match.text);
  if (value === undefined) return invalid(`What regex '${regex}' captured is no integer`);
  return holds(value) ? FOUND : NOT_FOUND;
}

/** @returns what is wrong as a text */
function compiled(source: string, language: ScaLanguage, problems: string[]): Matcher | string {
  try {
    return compilePattern(language, source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const problem = `Invalid regex '${source}': ${error.message}`;
    problems.push(problem);
    return problem;
  }
}
