import { Literal } from './literal.js';
import type { MatchContext } from './matcher.js';
import { compileOsRegex, type OsRegexCode } from './os-regex-code.js';
import { NONE } from './os-regex-machine.js';
import type { GradedMatcher, PatternGrowth } from './pattern-growth.js';
import type { Requirements } from './requirement.js';

/** OS_Regex (decoding.md 1.3): its own kind of scan, with results of its own that no regular expression has. */
export class OsRegex implements GradedMatcher {
  readonly language = 'osregex';
  readonly source: string;
  readonly cost = 'guarded';
  readonly growth: PatternGrowth;
  readonly requirements: Requirements;
  readonly #alternatives: readonly (OsRegexCode | Literal)[];

  /** @throws PatternError see `parseOsRegex` */
  constructor(source: string) {
    this.source = source;
    this.#alternatives = compileOsRegex(source).map((alternative) =>
      'text' in alternative
        ? new Literal(alternative.text, alternative.anchoredStart, alternative.anchoredEnd)
        : alternative,
    );
    this.requirements = this.#alternatives.map((each) => (each instanceof Literal ? each.requirement : each));
    const branching = this.#alternatives.some(
      (alternative) => !(alternative instanceof Literal) && alternative.branching,
    );
    this.growth = branching ? 'polynomial' : 'linear';
  }

  test(subject: string, context: MatchContext): boolean {
    return this.#match(subject, context, 0) !== undefined;
  }

  exec(subject: string, context: MatchContext, from = 0): boolean {
    const matched = this.#match(subject, context, from);
    if (matched === undefined) return false;
    let count = 0;
    if (!(matched instanceof Literal)) {
      const marks = context.osRegex.marks;
      for (let mark = 0; mark + 1 < matched.marks; mark += 2) {
        const open = marks[mark] ?? NONE;
        const close = marks[mark + 1] ?? NONE;
        if (open === NONE || close === NONE) break;
        context.captures[count] = subject.slice(open, close);
        count += 1;
      }
    }
    context.captureCount = count;
    context.end = context.osRegex.end - from;
    return true;
  }

  /** The first alternative that matches; the machine has the end and the marks. */
  #match(subject: string, context: MatchContext, from: number): OsRegexCode | Literal | undefined {
    const loaded = context.subject(subject);
    for (const alternative of this.#alternatives) {
      if (alternative instanceof Literal) {
        const behind = alternative.find(loaded, context, from);
        if (context.stepsLeft < 0) return this.#giveUp(context);
        if (behind < 0) continue;
        // An empty text matches with offset 0 reported.
        context.osRegex.end = behind === from ? from : behind - 1;
        return alternative;
      }
      const { start } = alternative;
      if (start !== undefined && loaded.length > from && start[loaded.bytes[from] ?? 0] === 0) continue;
      if (!loaded.mayContain(alternative.pairs)) continue;
      if (context.osRegex.run(alternative, loaded, context, from)) return alternative;
      if (context.stepsLeft < 0 || context.exhausted) return this.#giveUp(context);
    }
    return undefined;
  }

  #giveUp(context: MatchContext): undefined {
    context.giveUp();
    return undefined;
  }
}
