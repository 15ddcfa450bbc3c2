import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { compilePattern } from '../../../lib/patterns/compile-pattern.js';
import { MatchContext } from '../../../lib/patterns/matcher.js';
import { PatternError } from '../../../lib/patterns/pattern-error.js';
import { sharedData } from '../../support/shared-data.js';

type Vector = {
  readonly pattern: string;
  readonly subject: string;
  readonly matched: boolean;
  readonly captures: readonly string[];
  readonly end?: number;
  readonly error?: number;
};

const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

describe('pattern vectors', () => {
  const load = (name: string): Vector[] | undefined => {
    const path = sharedData(name);
    return path === undefined ? undefined : (JSON.parse(readFileSync(path, 'utf8')) as Vector[]);
  };

  it('OS_Regex: match, captures, end and error of every record', function () {
    const vectors = load('os-regex-vectors.json');
    if (vectors === undefined) return this.skip();
    const context = new MatchContext();
    for (const vector of vectors) {
      const name = JSON.stringify([vector.pattern, vector.subject]);
      if (vector.error !== undefined) {
        expect(() => compilePattern('osregex', bytes(vector.pattern)), name)
          .to.throw(PatternError)
          .with.property('code', vector.error);
        continue;
      }
      const matcher = compilePattern('osregex', bytes(vector.pattern));
      expect(matcher.test(bytes(vector.subject), context), name).to.equal(vector.matched);
      expect(matcher.exec(bytes(vector.subject), context), name).to.equal(vector.matched);
      if (!vector.matched) continue;
      expect(context.captures.slice(0, context.captureCount), name).to.deep.equal(vector.captures.map(bytes));
      if (vector.end !== undefined) expect(context.end, name).to.equal(vector.end);
    }
  });

  it('OS_Match: every record', function () {
    const vectors = load('os-match-vectors.json');
    if (vectors === undefined) return this.skip();
    const context = new MatchContext();
    for (const vector of vectors) {
      const matched = compilePattern('osmatch', bytes(vector.pattern)).test(bytes(vector.subject), context);
      expect(matched, JSON.stringify([vector.pattern, vector.subject])).to.equal(vector.matched);
    }
  });
});
