import type { MatchContext } from './matcher.js';
import { draftOsRegex } from './os-regex-code.js';
import { OsRegexRunner } from './os-regex-runner.js';
import type { GradedMatcher, PatternGrowth } from './pattern-growth.js';
import type { Requirements } from './requirement.js';

/** OS_Regex (decoding.md 1.3): its own kind of scan, with results of its own that no regular expression has. */
export class OsRegex implements GradedMatcher {
  readonly language = 'osregex';
  readonly source: string;
  readonly cost = 'guarded';
  readonly explodes = false;
  readonly requirements: Requirements;
  readonly #alternatives: readonly OsRegexRunner[];

  /** @throws PatternError see `parseOsRegex` */
  constructor(source: string) {
    this.source = source;
    this.#alternatives = draftOsRegex(source).map((draft) => new OsRegexRunner(draft));
    this.requirements = this.#alternatives.map(({ pairs, texts, start, opening }, alternative) => ({
      pairs,
      texts,
      start,
      opening,
      alternative,
    }));
  }

  get growth(): PatternGrowth {
    return this.#alternatives.some(({ branching }) => branching) ? 'polynomial' : 'linear';
  }

  /** Makes what the first match would have to wait for. */
  prepare(): void {
    for (const each of this.#alternatives) each.prepare();
  }

  test(subject: string, context: MatchContext): boolean {
    return this.exec(subject, context);
  }

  exec(subject: string, context: MatchContext, from = 0, alternative = -1, found = -1): boolean {
    const loaded = context.subject(subject);
    const alternatives = this.#alternatives;
    if (alternative >= 0) return alternatives[alternative]?.run(loaded, context, from, found) === true;
    for (const each of alternatives) {
      if (each.run(loaded, context, from, -1)) return true;
      if (context.stepsLeft < 0 || context.exhausted) return context.giveUp();
    }
    return false;
  }
}
