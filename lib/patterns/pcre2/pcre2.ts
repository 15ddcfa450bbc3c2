import type { MatchContext, Matcher } from '../matcher.js';
import { PatternError } from '../pattern-error.js';
import { requiredLiteral, type RequiredLiteral } from './analyse.js';
import { parsePcre2 } from './parse.js';
import { isExactAsRegExp, toRegExpSource } from './to-reg-exp.js';

/** A PCRE2 pattern whose tree runs as a RegExp with the same result (decoding.md 1.4). */
export class Pcre2 implements Matcher {
  readonly language = 'pcre2';
  readonly source: string;
  readonly cost = 'linear';
  readonly #regExp: RegExp;
  readonly #literal: RequiredLiteral | undefined;

  /** @throws PatternError for syntax errors and for constructs without an equal in a RegExp */
  constructor(source: string) {
    this.source = source;
    const { root } = parsePcre2(source);
    if (!isExactAsRegExp(root)) throw new PatternError(6, 'Pattern needs a construct that is not available yet');
    this.#regExp = new RegExp(toRegExpSource(root));
    this.#literal = requiredLiteral(root);
  }

  test(subject: string, context: MatchContext): boolean {
    return this.#mayMatch(subject, context) && this.#regExp.test(subject);
  }

  exec(subject: string, context: MatchContext): boolean {
    if (!this.#mayMatch(subject, context)) return false;
    const match = this.#regExp.exec(subject);
    if (match === null) return false;
    let count = match.length - 1;
    while (count > 0 && match[count] === undefined) count -= 1;
    for (let index = 0; index < count; index += 1) context.captures[index] = match[index + 1] ?? '';
    context.captureCount = count;
    // Exact: decoders go on right after the match, and they go on at `end + 1`.
    context.end = match.index + match[0].length - 1;
    return true;
  }

  #mayMatch(subject: string, context: MatchContext): boolean {
    const literal = this.#literal;
    if (literal === undefined) return true;
    return (literal.folded ? context.subject(subject).foldedText : subject).includes(literal.text);
  }
}
