import { expect } from 'chai';
import fc from 'fast-check';
import { MatchContext } from '../../../../lib/patterns/matcher.js';
import { OsRegex } from '../../../../lib/patterns/os-regex.js';
import { codeOf, draftOsRegex, type OsRegexCode } from '../../../../lib/patterns/os-regex-code.js';
import { RegularAlternative } from '../../../../lib/patterns/os-regex-regular.js';
import { toOsRegexForm } from '../../../../lib/patterns/os-regex-to-reg-exp.js';
import { referenceMatch } from '../../../support/patterns/os-regex-reference.js';

const RUNS = Number(process.env['SVC_PATTERN_RUNS'] ?? 4000);

/** Elements of a pattern, each with texts that it takes, or nearly. */
const BYTES = ['a', 'b', '1', ':', ' ', '"', '=', '.', 'x'];
const CLASSES: Readonly<Record<string, readonly string[]>> = {
  '\\d': ['1', '2'],
  '\\w': ['a', 'B', '1'],
  '\\s': [' '],
  '\\S': ['a', ':', '"', '=', '.', '\xe9'],
  '\\p': [':', '"', '=', '.'],
  '\\W': [' ', ':', '"'],
  '\\.': [...BYTES, '""', '::'],
};
const literal = fc.constantFrom(...BYTES).map((byte) => ({ source: byte, texts: [byte] }));
const repeated = fc
  .tuple(fc.constantFrom(...Object.keys(CLASSES)), fc.constantFrom('', '+', '+', '*'))
  .map(([source, quantifier]) => ({ source: source + quantifier, texts: CLASSES[source] ?? [] }));
const element = fc.oneof(literal, repeated);
const part = fc.oneof(
  { weight: 3, arbitrary: element.map((one) => [one]) },
  {
    weight: 1,
    arbitrary: fc.tuple(repeated, literal).map(([one, stop]) => [{ ...one, source: `(${one.source})` }, stop]),
  },
);
const tail = fc.constantFrom('', '', '', '$', '(\\.*)', '(\\S+)', '"(\\.*)"', '\\d+', '(\\.*)\\s', '(a\\.*)$');

/** A pattern and a subject that has something of it. */
const trial = fc.tuple(fc.array(part, { minLength: 1, maxLength: 6 }), tail).chain(([parts, end]) => {
  const elements = parts.flat();
  const taken = elements.map(({ source, texts }) =>
    /[+*]\)?$/.test(source)
      ? fc.array(fc.constantFrom(...texts), { maxLength: 3 }).map((some) => some.join(''))
      : fc.constantFrom(...texts),
  );
  const noise = fc.array(fc.constantFrom(...BYTES, 'a b', '""'), { maxLength: 3 }).map((some) => some.join(''));
  return fc.record({
    source: fc.constant(`^${elements.map(({ source }) => source).join('')}${end}`),
    subject: fc.tuple(fc.tuple(...taken), noise, fc.nat(20), noise).map(([texts, within, at, behind]) => {
      const text = texts.join('');
      return text.slice(0, at) + (at > 15 ? within : '') + text.slice(at) + behind;
    }),
  });
});

function firstCode(source: string): OsRegexCode | undefined {
  const [draft] = draftOsRegex(source);
  return draft === undefined || 'text' in draft ? undefined : codeOf(draft);
}

describe('the regular form of an OS_Regex', () => {
  it('gives what the rules give, wherever it is to be used', () => {
    const context = new MatchContext();
    const tried = { used: 0, matched: 0, machine: 0 };
    fc.assert(
      fc.property(trial, fc.constantFrom('', 'a: '), ({ source, subject }, before) => {
        const code = firstCode(source);
        const regular = code && RegularAlternative.of(code);
        if (regular === undefined) return;
        const loaded = context.subject(before + subject);
        if (regular.steps(loaded, before.length) < 0) {
          tried.machine += 1;
          return;
        }
        const matched = regular.run(loaded, context, before.length);
        tried.used += 1;
        if (matched) tried.matched += 1;
        const { end, captures, captureCount } = context;
        const actual = matched ? { end, captures: captures.slice(0, captureCount) } : undefined;
        expect(actual, JSON.stringify([source, subject])).to.deep.equal(referenceMatch(source, subject));
      }),
      { numRuns: 3 * RUNS },
    );
    expect(tried.used).to.be.greaterThan(RUNS);
    expect(tried.matched).to.be.greaterThan(RUNS / 4);
    expect(tried.machine).to.be.greaterThan(0);
  });

  for (const [source, has] of [
    ['^\\S+ - (\\d+) ', true],
    ['^(\\S+) \\.*[\\S+] "(\\w+) (\\S+) HTTP\\S+" (\\d+) ', true],
    ['^user=(\\S+)', true],
    ['^msg="(\\.*)"', true],
    ['^msg=(\\.*)$', true],
    // where a match begins is a choice, too
    ['\\S+ -', false],
    // marks side by side
    ['^(\\w+)(\\d+) ', false],
    // the class behind the repeat takes bytes of it, and more is to come
    ['^\\S+\\d ', false],
    // the end of the subject is accepted early
    ['^\\w+\\s*', false],
    ['^\\s*(\\S+)', false],
    // more choice points than there is room for
    ['^\\.+a\\.+b\\.+c\\.+d\\.+e\\.+f', false],
  ] as const) {
    it(`${has ? 'is there for' : 'is not there for'} ${source}`, () => {
      const code = firstCode(source);
      expect(code && toOsRegexForm(code) !== undefined).to.equal(has);
    });
  }

  it('leaves doubled stops and long work to the machine', () => {
    const context = new MatchContext();
    const steps = (source: string, subject: string): number | undefined => {
      const code = firstCode(source);
      return code && RegularAlternative.of(code)?.steps(context.subject(subject), 0);
    };
    const source = '^\\.*[a\\S+" b';
    expect(steps(source, 'x [a"c" b')).to.be.greaterThan(0);
    expect(steps(source, 'x [a"c"" b')).to.equal(-1);
    expect(steps(source, `x [a"c" b${'['.repeat(300)}`)).to.equal(-1);
    expect(steps('^\\S+ b', 'a'.repeat(16_000))).to.be.greaterThan(0);
    expect(steps('^\\S+ b', 'a'.repeat(16_001))).to.equal(-1);
    const oneStop = '^\\.*[(\\d+)';
    expect(steps(oneStop, '['.repeat(256))).to.equal(17);
    expect(steps(oneStop, '['.repeat(257))).to.equal(-1);
    expect(steps(oneStop, `${'a'.repeat(499)}[`)).to.equal(1 + (1000 >> 4));
  });

  it('gives the same on long lines, however often it was run', () => {
    const context = new MatchContext();
    const source = '^(\\S+) \\.*[\\S+ \\S\\d+] "(\\w+) (\\S+) HTTP\\S+" (\\d+) ';
    const regex = new OsRegex(source);
    const agent =
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';
    for (const path of ['/', `/${'long/'.repeat(60)}`, '/?list[]=1', '/?a="b"']) {
      const line = `192.0.2.7 - - [x] [20/Mar/2026:09:46:40 +0000] "GET ${path} HTTP/1.1" 204 55250 "-" "${agent} ${agent}"`;
      const expected = referenceMatch(source, line);
      for (let run = 0; run < 3; run += 1) {
        const matched = regex.exec(line, context);
        expect(
          matched && { end: context.end, captures: context.captures.slice(0, context.captureCount) },
        ).to.deep.equal(expected);
      }
    }
  });
});
