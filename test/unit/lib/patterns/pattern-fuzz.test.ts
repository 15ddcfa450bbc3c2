import { expect } from 'chai';
import fc from 'fast-check';
import { compilePattern } from '../../../../lib/patterns/compile-pattern.js';
import { MatchContext, type PatternLanguage } from '../../../../lib/patterns/matcher.js';
import { PatternError } from '../../../../lib/patterns/pattern-error.js';

const RUNS = 3000;

const bytes = fc.uint8Array({ minLength: 0, maxLength: 40 }).map((raw) => Buffer.from(raw).toString('latin1'));
const syntax = fc
  .array(
    fc.constantFrom(
      ...[
        '(',
        ')',
        '[',
        ']',
        '{',
        '}',
        '|',
        '\\',
        '*',
        '+',
        '?',
        '^',
        '$',
        '-',
        '.',
        ':',
        '=',
        '!',
        '<',
        '>',
        '#',
        ',',
      ],
      ...[
        '(?',
        '(?:',
        '(?<',
        '(?P<a>',
        '(?(',
        '(?1)',
        '(?R)',
        '(*',
        '\\Q',
        '\\E',
        '\\p{',
        '\\x{',
        '\\1',
        '\\g{',
        '\\N{U+',
      ],
      ...['[[:', ':]]', '(?x)', '(?i)', '(*UTF)', '{1,', '65535}', 'a', 'b', '1', '\xc3', '\xa9', '\0', '\n', '&', "'"],
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

describe('pattern compilation of arbitrary bytes', () => {
  const context = new MatchContext();
  const languages: PatternLanguage[] = ['osmatch', 'osregex', 'pcre2'];

  for (const language of languages) {
    it(`${language}: gives a matcher or a PatternError`, () => {
      fc.assert(
        fc.property(fc.oneof(bytes, syntax), fc.oneof(bytes, fc.constant('aab 1 \xc3\xa9')), (source, subject) => {
          try {
            const matcher = compilePattern(language, source);
            context.stepsLeft = 20_000;
            expect(matcher.test(subject.replaceAll('\0', ''), context)).to.be.a('boolean');
          } catch (error) {
            expect(error, JSON.stringify(source)).to.be.instanceOf(PatternError);
          }
        }),
        { numRuns: RUNS },
      );
    });
  }
});
