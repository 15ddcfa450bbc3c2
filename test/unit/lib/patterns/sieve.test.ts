import { expect } from 'chai';
import fc from 'fast-check';
import { compilePattern } from '../../../../lib/patterns/compile-pattern.js';
import { MatchContext, type PatternLanguage } from '../../../../lib/patterns/matcher.js';
import { MAX_WAYS, Sieve } from '../../../../lib/patterns/sieve.js';

const RUNS = Number(process.env['SVC_PATTERN_RUNS'] ?? 3000);

const element = fc.constantFrom('a', 'b', 'B', 'ab', 'Ba', '1', ' ', ':', '\xc3', '{', '[');
const text = fc.array(element, { maxLength: 4 }).map((parts) => parts.join(''));
const piece: Record<PatternLanguage, fc.Arbitrary<string>> = {
  osmatch: text,
  osregex: fc
    .array(fc.oneof(element, fc.constantFrom('\\d', '\\w+', '\\.*', '\\s', '\\S+', '(\\d*)')), { maxLength: 5 })
    .map((parts) => parts.join('')),
  pcre2: fc
    .array(fc.oneof(fc.constantFrom('a', 'b', 'ab', '(?:a|b1)', '(?:ab|)', '1?', '[ab]', '.*', ':+', '(?i:b)')), {
      maxLength: 4,
    })
    .map((parts) => parts.join('')),
};
const pattern = fc.constantFrom<PatternLanguage>('osmatch', 'osregex', 'pcre2').chain((language) =>
  fc
    .tuple(
      fc.constantFrom('', '', '', language === 'osmatch' ? '!' : ''),
      fc.array(
        fc
          .tuple(fc.constantFrom('', '', '^'), piece[language], fc.constantFrom('', '', '$'))
          .map((parts) => parts.join('')),
        { minLength: 1, maxLength: 3 },
      ),
    )
    .map(([negation, alternatives]) => compilePattern(language, negation + alternatives.join('|'))),
);

describe('a matcher', () => {
  it('takes a subject from an offset on for the rest of it', () => {
    const context = new MatchContext();
    const outcome = (matched: boolean): object => ({
      matched,
      ...(matched ? { end: context.end, captures: context.captures.slice(0, context.captureCount) } : {}),
    });
    fc.assert(
      fc.property(pattern, text, text, (matcher, before, subject) => {
        const expected = outcome(matcher.exec(subject, context));
        const whole = before + subject;
        expect(outcome(matcher.exec(whole, context, before.length)), matcher.source).to.deep.equal(expected);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a sieve', () => {
  const context = new MatchContext();

  it('passes over no pattern that matches, and names the others in their order', () => {
    let passedOver = 0;
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 8 }), fc.array(text, { maxLength: 5 }), (matchers, subjects) => {
        const sieve = new Sieve(matchers.map(({ requirements }) => requirements));
        for (const subject of subjects) {
          const loaded = context.pin(subject);
          const named: number[] = [];
          for (let i = sieve.next(0, loaded); i >= 0; i = sieve.next(i + 1, loaded)) named.push(i);
          expect(named).to.deep.equal([...new Set(named)].sort((a, b) => a - b));
          matchers.forEach((matcher, position) => {
            const { language, source } = matcher;
            if (named.includes(position)) return;
            passedOver += 1;
            expect(matcher.test(subject, context), JSON.stringify([language, source, subject])).to.equal(false);
          });
        }
      }),
      { numRuns: RUNS },
    );
    expect(passedOver).to.be.greaterThan(RUNS);
  });

  it('passes over patterns for want of a pair of bytes, or for the byte that the subject begins with', () => {
    const named = (source: string, subject: string): boolean =>
      new Sieve([compilePattern('osmatch', source).requirements]).next(0, context.pin(subject)) === 0;
    expect(named('denied', 'Access DENIED')).to.equal(true);
    expect(named('denied', 'access granted')).to.equal(false);
    expect(named('^access|refused', 'no access')).to.equal(false);
    expect(named('^access|refused', 'Access')).to.equal(true);
    expect(named('!denied', 'access')).to.equal(true);
  });

  it('tries a pattern of very many alternatives always', () => {
    const words = (count: number): string => Array.from({ length: count }, (_, i) => `q${String(i)}`).join('|');
    const named = (count: number): number =>
      new Sieve([compilePattern('osmatch', words(count)).requirements]).next(0, context.pin('x'));
    expect(named(MAX_WAYS)).to.equal(-1);
    expect(named(MAX_WAYS + 1)).to.equal(0);
  });

  it('holds more patterns than 16 bits can number', () => {
    const rare = compilePattern('osmatch', 'qz').requirements;
    const last = 70_000;
    const sieve = new Sieve(Array.from({ length: last + 1 }, (_, i) => (i === last ? undefined : rare)));
    expect(sieve.next(0, context.pin('access'))).to.equal(last);
  });
});
