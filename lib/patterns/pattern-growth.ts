import type { Matcher } from './matcher.js';

/**
 * How the work of a match grows with the subject at worst. `exponential` = no better bound is known: a hostile subject of
 * no great length can use up the step budget of an event, so that the pattern counts as not matching.
 */
export type PatternGrowth = 'linear' | 'polynomial' | 'exponential';

/** A matcher that knows how its work grows. */
export interface GradedMatcher extends Matcher {
  readonly growth: PatternGrowth;
}

/** How a pattern's work grows, for those who load rulesets and warn of patterns that can explode. */
export function patternGrowth(matcher: Matcher): PatternGrowth {
  return 'growth' in matcher ? (matcher as GradedMatcher).growth : 'linear';
}
