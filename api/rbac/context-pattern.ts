import { toByteString } from '../../lib/engine/byte-string.js';
import { isObject } from '../../lib/json/is-object.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import type { MatchContext, Matcher } from '../../lib/patterns/matcher.js';
import { ContextNotJudgedError } from './context-not-judged-error.js';
import { SecurityRuleError } from './security-rule-error.js';

/**
 * Work that one regular expression may do on one text, in steps of the matcher: some 10 ms. Stops a pattern that takes
 * exponential time from holding the API up; the reference gives it 100 ms (rest-api.md 5.6).
 */
const MAX_STEPS = 100_000;

/** What patterns need while one context is looked at. */
export type MatchBudget = {
  readonly scratch: MatchContext;
  /** Steps that are left for all patterns of this context together. */
  stepsLeft: number;
};

/** Whether a text, number or truth value of the context is what a pattern says. */
type ScalarTest = (value: unknown, budget: MatchBudget) => boolean;

/** A pattern of MATCH or FIND, ready to be held against contexts. */
export type ContextPattern = (value: unknown, budget: MatchBudget) => boolean;

/**
 * Compiles the pattern of MATCH or FIND (rest-api.md 5.6): an object has to be contained, key by key; a list needs each of
 * its elements in the list of the context, in any order; anything else is compared.
 * @param isWhole lists have to be of equal length, as `MATCH$` and `FIND$` want it
 * @throws SecurityRuleError when a regular expression does not compile
 */
export function contextPattern(pattern: unknown, isWhole: boolean): ContextPattern {
  if (isObject(pattern)) return objectPattern(pattern, isWhole);
  const elements = (Array.isArray(pattern) ? (pattern as unknown[]) : [pattern]).map((element) =>
    isObject(element) || Array.isArray(element) ? contextPattern(element, isWhole) : scalarTest(element),
  );
  return (value, budget) => {
    const values = Array.isArray(value) ? (value as unknown[]) : [value];
    if (isWhole && values.length !== elements.length) return false;
    return elements.every((test) => values.some((one) => test(one, budget)));
  };
}

function objectPattern(pattern: Readonly<Record<string, unknown>>, isWhole: boolean): ContextPattern {
  const members = Object.entries(pattern).map(([key, value]) => ({
    key,
    regex: regexOf(key),
    matches: contextPattern(value, isWhole),
  }));
  return (value, budget) => {
    if (!isObject(value)) return false;
    // Each comparison counts: many rules on a large context must not hold the API up either.
    budget.stepsLeft -= members.length;
    if (budget.stepsLeft < 0) throw new ContextNotJudgedError('all rules together take too long');
    return members.every(({ key, regex, matches }) => {
      if (Object.hasOwn(value, key) && matches(value[key], budget)) return true;
      if (regex === undefined) return false;
      return Object.keys(value).some((name) => runs(regex, name, budget) && matches(value[name], budget));
    });
  };
}

function scalarTest(pattern: unknown): ScalarTest {
  const regex = typeof pattern === 'string' ? regexOf(pattern) : undefined;
  if (regex === undefined) return (value) => value === pattern;
  return (value, budget) => typeof value === 'string' && runs(regex, value, budget);
}

/**
 * The regular expression of `r'<regex>'`, matched at the start of a text. As in the reference two characters are cut off at
 * its end, usually `$'`.
 */
function regexOf(text: string): Matcher | undefined {
  if (!text.startsWith("r'")) return undefined;
  const source = text.slice(2, -2);
  try {
    return compilePattern('pcre2', `(*UTF8)^(?:${toByteString(source)})`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SecurityRuleError(`the regular expression '${source}' does not compile: ${reason}`);
  }
}

function runs(regex: Matcher, text: string, budget: MatchBudget): boolean {
  const { scratch } = budget;
  const allowed = Math.min(MAX_STEPS, budget.stepsLeft);
  scratch.stepsLeft = allowed;
  scratch.exhausted = false;
  const subject = toByteString(text);
  // The matcher's subjects hold none.
  if (subject.includes('\0')) throw new ContextNotJudgedError('a text has a NUL');
  const matches = regex.test(subject, scratch);
  budget.stepsLeft -= allowed - Math.max(0, scratch.stepsLeft);
  if (scratch.exhausted) throw new ContextNotJudgedError(`the regular expression '${regex.source}' takes too long`);
  return matches;
}
