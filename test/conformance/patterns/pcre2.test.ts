import { expect } from 'chai';
import { compilePattern } from '../../../lib/patterns/compile-pattern.js';
import { MatchContext } from '../../../lib/patterns/matcher.js';
import { PatternError } from '../../../lib/patterns/pattern-error.js';
import { parsePcre2 } from '../../../lib/patterns/pcre2/parse.js';
import { compileProgram } from '../../../lib/patterns/pcre2/program.js';
import { readVectors } from '../../support/read-vectors.js';

/** What libpcre2 10.42 answers without options; strings have a character a byte. A subject alone did not match. */
type Vector = {
  readonly pattern: string;
  readonly error?: number;
  readonly matches?: readonly [subject: string, end?: number, captures?: string[]][];
};

describe('PCRE2 vectors', () => {
  const vectors = readVectors<Vector[]>('pcre2-vectors.json');
  const context = new MatchContext();

  it('gives the match, end and captures of the library, whichever way the pattern runs', () => {
    for (const { pattern, error, matches = [] } of vectors) {
      if (error !== undefined) continue;
      const matcher = compilePattern('pcre2', pattern);
      const program = compileProgram(parsePcre2(pattern));
      for (const [subject, end, captures] of matches) {
        const name = JSON.stringify([pattern, subject]);
        const matched = matcher.exec(subject, context);
        expect(matched, name).to.equal(end !== undefined);
        expect(matcher.test(subject, context), name).to.equal(matched);
        if (matched) {
          expect(context.end + 1, name).to.equal(end);
          expect(context.captures.slice(0, context.captureCount), name).to.deep.equal(captures);
        }
        if (pattern.startsWith('(*UTF)')) continue;
        const counted = context.backtracking.run(program, context.subject(subject), context);
        expect(counted, name).to.equal(matched);
        if (counted) expect(context.backtracking.registers[1], name).to.equal(end);
      }
    }
  });

  it('refuses what the library refuses', () => {
    for (const { pattern, error } of vectors) {
      if (error !== undefined) expect(() => compilePattern('pcre2', pattern), pattern).to.throw(PatternError);
    }
  });
});
