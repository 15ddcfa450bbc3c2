import type { Matcher } from './matcher.js';

/**
 * How the work of a match grows with the subject at worst. `exponential` = no better bound is known: a hostile subject of
 * no great length can use up the step budget of an event, so that the pattern counts as not matching.
 */
export type PatternGrowth = 'linear' | 'polynomial' | 'exponential';

/** A matcher that knows how its work grows. */
export interface GradedMatcher extends Matcher {
  readonly growth: PatternGrowth;
  /** Whether that is exponential; most patterns know it at once. */
  readonly explodes?: boolean;
}

/** Whether the work of a pattern can explode, for those who load rulesets and warn of it. */
export function canExplode(matcher: Matcher): boolean {
  return 'explodes' in matcher
    ? (matcher as GradedMatcher).explodes === true
    : patternGrowth(matcher) === 'exponential';
}

/** How a pattern's work grows. */
export function patternGrowth(matcher: Matcher): PatternGrowth {
  return 'growth' in matcher ? (matcher as GradedMatcher).growth : 'linear';
}
