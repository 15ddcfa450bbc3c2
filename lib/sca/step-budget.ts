import { MatchContext, type Matcher } from '../patterns/matcher.js';

/** Steps of one regex on one line: some 20 ms. A hostile line must not hold a scan. */
const STEPS_A_LINE = 1_000_000;
/** Steps of all regexes of one rule, whatever it reads: some two seconds. */
const STEPS_A_RULE = 100_000_000;

/** Matches for one rule, so many steps in all: what regexes of a policy may cost on texts that anybody could have written. */
export class StepBudget {
  readonly #context = new MatchContext();
  #left: number;

  constructor(steps = STEPS_A_RULE) {
    this.#left = steps;
  }

  /** @param line byte string @returns undefined when the steps did not do */
  test(matcher: Matcher, line: string): boolean | undefined {
    return this.#spend((context) => matcher.test(line, context));
  }

  /** First group of a match, '' where it took no part. @returns undefined when the steps did not do */
  capture(matcher: Matcher, line: string): { readonly text: string | undefined } | false | undefined {
    const matched = this.#spend((context) => matcher.exec(line, context));
    if (matched !== true) return matched;
    return { text: this.#context.captureCount > 0 ? this.#context.captures[0] : undefined };
  }

  #spend(match: (context: MatchContext) => boolean): boolean | undefined {
    const context = this.#context;
    const most = Math.min(STEPS_A_LINE, this.#left);
    if (most <= 0) return undefined;
    context.stepsLeft = most;
    context.exhausted = false;
    const matched = match(context);
    this.#left -= most - Math.max(0, context.stepsLeft);
    return context.exhausted ? undefined : matched;
  }
}
