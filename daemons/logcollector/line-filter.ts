import type { LinePattern } from '../../lib/config/sections/localfile.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { MatchContext, type Matcher } from '../../lib/patterns/matcher.js';

/** Steps a pattern may take on one line; what needs more does not match. */
const STEPS_A_LINE = 500_000;

/**
 * `ignore` and `restrict` of a block (daemons-and-config.md 6.2): any `ignore` that matches drops the line, then every
 * `restrict` must match.
 */
export class LineFilter {
  readonly #ignore: readonly Matcher[];
  readonly #restrict: readonly Matcher[];
  readonly #context = new MatchContext();

  /** @throws PatternError for a pattern that does not compile */
  constructor(ignore: readonly LinePattern[], restrict: readonly LinePattern[]) {
    this.#ignore = ignore.map(compile);
    this.#restrict = restrict.map(compile);
  }

  /** Why a message is dropped, in the reference's words; undefined when it is kept. */
  dropReason(message: Buffer): string | undefined {
    if (this.#ignore.length === 0 && this.#restrict.length === 0) {
      return undefined;
    }
    const subject = message.toString('latin1');
    const ignore = this.#ignore.find((matcher) => this.#matches(matcher, subject));
    if (ignore !== undefined) {
      return describe(subject, 'ignore', ignore);
    }
    const restrict = this.#restrict.find((matcher) => !this.#matches(matcher, subject));
    return restrict === undefined ? undefined : describe(subject, 'restrict', restrict);
  }

  #matches(matcher: Matcher, subject: string): boolean {
    this.#context.stepsLeft = STEPS_A_LINE;
    return matcher.test(subject, this.#context);
  }
}

function compile({ type, pattern }: LinePattern): Matcher {
  return compilePattern(type, Buffer.from(pattern, 'utf8').toString('latin1'));
}

function describe(line: string, option: string, { source }: Matcher): string {
  return `(1976): Ignoring the log line '${line}' due to ${option} config: '${source}'`;
}
