import { expect } from 'chai';
import fc from 'fast-check';
import { MatchContext } from '../../../../lib/patterns/matcher.js';
import { OsRegex } from '../../../../lib/patterns/os-regex.js';
import { codeOf, draftOsRegex } from '../../../../lib/patterns/os-regex-code.js';
import { ShortAlternative } from '../../../../lib/patterns/os-regex-short.js';
import { referenceMatch } from '../../../support/patterns/os-regex-reference.js';

const RUNS = Number(process.env['SVC_PATTERN_RUNS'] ?? 4000);

/** Patterns over few bytes and many repeats, where choice points, restarts and marks interfere most. */
const element = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('\\w', '\\d', '\\s', '\\.', '\\S', '\\p', '\\W', '\\D', '\\t') },
  {
    weight: 6,
    arbitrary: fc.constantFrom('\\w+', '\\d+', '\\.+', '\\S+', '\\w*', '\\d*', '\\.*', '\\S*', '\\W*', '\\p+'),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom('a', 'B', '1', ' ', ':', 'ab', 'a1', 'ab:', 'b1a', '+', '(', '\\(', '\\(+', '\xc3'),
  },
);
const group = fc.array(element, { maxLength: 3 }).map((parts) => `(${parts.join('').replaceAll(/(?<!\\)\(/g, '')})`);
const alternative = fc
  .tuple(
    fc.constantFrom('', '', '', '^'),
    fc.array(fc.oneof({ weight: 3, arbitrary: element }, { weight: 1, arbitrary: group }), { maxLength: 6 }),
    fc.constantFrom('', '', '', '$'),
  )
  .map(([caret, parts, dollar]) => caret + parts.map((part) => (part === '(' ? '' : part)).join('') + dollar);
const pattern = fc.array(alternative, { minLength: 1, maxLength: 2 }).map((parts) => parts.join('|'));
const subject = fc
  .array(fc.constantFrom('a', 'b', 'B', '1', '2', ' ', ':', '(', '+', '\t', '\xc3', 'ab', 'a1', 'ab:', 'b1a'), {
    maxLength: 14,
  })
  .map((parts) => parts.join(''));

/** Patterns that begin with classes and a text, and subjects that have much of it. */
const headed = fc
  .tuple(
    fc.array(fc.constantFrom('\\w', '\\d', '\\S', '\\.', '(\\w)', '(a)', '\\(', 'a'), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('aba', 'abb', 'bab1', 'a\\(b', 'a(ba)b', 'aa'),
    fc.array(fc.constantFrom('\\w+', '\\w*', '\\.*', '\\w', '\\d', '1', 'b', ' '), { maxLength: 5 }),
    fc.constantFrom('', '', '$'),
  )
  .map(([classes, text, rest, dollar]) => [...classes, text, ...rest, dollar].join(''));
const headedSubject = fc
  .array(fc.constantFrom('a', 'b', 'B', '1', '(', ' ', 'aba', 'abb'), { maxLength: 14 })
  .map((parts) => parts.join(''));

/** Patterns that are a text, a repeat and little behind it, and subjects that begin to match in many places. */
const short = fc
  .tuple(
    fc.constantFrom('', 'a', 'ab', 'aba', 'aa', 'A1', ':', 'a: '),
    fc.constantFrom('\\w', '\\d', '\\S', '\\.', '\\W', '\\p', '\\D', '\\s', '\\('),
    fc.constantFrom('+', '*'),
    fc.boolean(),
    fc.constantFrom(
      '',
      'a',
      'ab',
      'aab',
      'aba',
      ':',
      ': ',
      '::a',
      '1',
      'bB',
      '\\s',
      '\\w',
      '\\d',
      '\\.',
      '\\(',
      '\xc3',
    ),
  )
  .map(([text, repeated, quantifier, group, end]) => {
    const repeat = repeated + quantifier;
    return text + (group ? `(${repeat})` : repeat) + end;
  });
const shortSubject = fc
  .array(fc.constantFrom('a', 'b', 'B', '1', ' ', ':', '(', '\xc3', 'aba', 'ababa1', 'aaa1', 'a1', 'a: ', '::'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

function isShort(source: string): boolean {
  const [draft] = draftOsRegex(source);
  return draft !== undefined && !('text' in draft) && ShortAlternative.of(codeOf(draft)) !== undefined;
}

describe('OS_Regex against the rules as written', () => {
  const context = new MatchContext();

  const compare = (source: string, subjects: readonly string[]): void => {
    const matcher = new OsRegex(source);
    for (const text of subjects) {
      const expected = referenceMatch(source, text);
      const matched = matcher.exec(text, context);
      const actual = matched
        ? { end: context.end, captures: context.captures.slice(0, context.captureCount) }
        : undefined;
      expect(actual, JSON.stringify([source, text])).to.deep.equal(expected);
      expect(matcher.test(text, context)).to.equal(matched);
      const behind = matcher.exec(`a1: ${text}`, context, 4);
      expect(behind && [context.end, ...context.captures.slice(0, context.captureCount)]).to.deep.equal(
        expected !== undefined && [expected.end, ...expected.captures],
      );
    }
  };

  it('gives the same match, captures and end', () => {
    fc.assert(fc.property(pattern, fc.array(subject, { minLength: 1, maxLength: 4 }), compare), { numRuns: RUNS });
  });

  it('gives the same where a text stands behind the first classes', () => {
    fc.assert(fc.property(headed, fc.array(headedSubject, { minLength: 1, maxLength: 4 }), compare), { numRuns: RUNS });
  });

  it('gives the same for patterns of the longest size', () => {
    for (const [source, text] of [
      [`${'q'.repeat(6600)}\\d*b\\.*z`, `${'q'.repeat(6600)}12b..z`],
      [`^${'q'.repeat(20_000)}(\\.*)b(\\w+) \\d*z`, `${'q'.repeat(20_000)}.b12b.bx 7z`],
      ['\\d+ '.repeat(5000), '1 '.repeat(5000)],
      [`${'(\\.*)b'.repeat(3300)}`, '.b'.repeat(3300)],
    ] as const) {
      expect(referenceMatch(source, text), source.slice(-20)).not.to.equal(undefined);
      compare(source, [text, text.slice(0, -1)]);
    }
  });

  it('gives the same for the short form', () => {
    let found = 0;
    const compareShort = (source: string, subjects: readonly string[]): void => {
      if (isShort(source)) found += 1;
      compare(source, subjects);
    };
    fc.assert(fc.property(short, fc.array(shortSubject, { minLength: 1, maxLength: 4 }), compareShort), {
      numRuns: RUNS,
    });
    expect(found).to.be.above(RUNS / 2);
  });

  it('takes as many steps each time for the short form, and no more than there are', () => {
    const count = (source: string, text: string): void => {
      fc.pre(isShort(source));
      const matcher = new OsRegex(source);
      context.stepsLeft = 10_000;
      const matched = matcher.exec(text, context);
      const steps = 10_000 - context.stepsLeft;
      expect(steps, JSON.stringify([source, text])).to.be.at.least(0);
      for (const budget of steps > 0 ? [steps, steps - 1] : [steps]) {
        context.stepsLeft = budget;
        expect(matcher.exec(text, context), JSON.stringify([source, text, budget])).to.equal(
          matched && budget === steps,
        );
        expect(context.exhausted).to.equal(budget < steps);
        expect(context.stepsLeft).to.equal(0);
        context.exhausted = false;
      }
      context.stepsLeft = Number.MAX_SAFE_INTEGER;
    };
    fc.assert(fc.property(short, shortSubject, count), { numRuns: RUNS / 4 });
  });
});
