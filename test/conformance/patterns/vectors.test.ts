import { expect } from 'chai';
import { compilePattern } from '../../../lib/patterns/compile-pattern.js';
import { MatchContext } from '../../../lib/patterns/matcher.js';
import { PatternError } from '../../../lib/patterns/pattern-error.js';
import { readVectors } from '../../support/read-vectors.js';

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
  it('OS_Regex: match, captures, end and error of every record', () => {
    const context = new MatchContext();
    for (const vector of readVectors<Vector[]>('os-regex-vectors.json')) {
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

  it('OS_Match: every record', () => {
    const context = new MatchContext();
    for (const vector of readVectors<Vector[]>('os-match-vectors.json')) {
      const matched = compilePattern('osmatch', bytes(vector.pattern)).test(bytes(vector.subject), context);
      expect(matched, JSON.stringify([vector.pattern, vector.subject])).to.equal(vector.matched);
    }
  });
});
