import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { compilePattern } from '../../../../lib/patterns/compile-pattern.js';
import { MatchContext, type Matcher } from '../../../../lib/patterns/matcher.js';
import { OpeningSieves } from '../../../../lib/patterns/opening-sieves.js';

const RUNS = Number(process.env['SVC_PATTERN_RUNS'] ?? 3000);

const element = fc.oneof(
  fc.constantFrom('a', 'B', '1', ' ', ':', '(', '\xc3'),
  fc.constantFrom('\\w', '\\d', '\\s', '\\.', '\\S', '\\W', '\\D', '\\(', '(\\d)', '(a)'),
  fc.constantFrom('\\w+', '\\d+', '\\.+', '\\S+', '\\w*', '\\d*', '\\.*', '\\S*', '\\W*', '\\s*', '(\\w+)', '(\\d*)'),
);
const alternative = fc
  .tuple(fc.constantFrom('^', '^', '^', ''), fc.array(element, { maxLength: 6 }), fc.constantFrom('', '', '$'))
  // A bracket that is none of a group is written as the second of two marks.
  .map(([caret, parts, dollar]) => caret + parts.map((part) => (part === '(' ? '()' : part)).join('') + dollar);
const pattern = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(alternative, { minLength: 1, maxLength: 2 })
      .map((parts) => compilePattern('osregex', parts.join('|'))),
  },
  { weight: 1, arbitrary: fc.constantFrom('^a1', '^b', 'a:', '!^a').map((text) => compilePattern('osmatch', text)) },
  { weight: 1, arbitrary: fc.constantFrom('^a\\d', '^[ab]+1', 'a').map((text) => compilePattern('pcre2', text)) },
);
const subject = fc
  .array(fc.constantFrom('a', 'b', 'B', '1', '2', ' ', ':', '(', '\t', '\xc3', 'ab', 'a1'), { maxLength: 14 })
  .map((parts) => parts.join(''));

function named(sieves: OpeningSieves, context: MatchContext, text: string, from: number): Set<number> {
  const loaded = context.pin(text);
  const sieve = sieves.at(loaded, from);
  const positions = new Set<number>();
  for (let i = sieve.next(0, loaded); i >= 0; i = sieve.next(i + 1, loaded)) positions.add(i);
  return positions;
}

function sievesOf(matchers: readonly Matcher[]): OpeningSieves {
  return new OpeningSieves(matchers.map(({ requirements }) => requirements));
}

describe('sieves by the openings of patterns', () => {
  const context = new MatchContext();

  it('pass over no pattern that matches', () => {
    let passedOver = 0;
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 1, maxLength: 8 }),
        fc.array(subject, { minLength: 1, maxLength: 6 }),
        fc.constantFrom('', 'a1'),
        (matchers, subjects, before) => {
          const sieves = sievesOf(matchers);
          for (const text of subjects) {
            const passed = named(sieves, context, before + text, before.length);
            for (const [position, matcher] of matchers.entries()) {
              if (passed.has(position)) continue;
              passedOver += 1;
              const matched = matcher.exec(before + text, context, before.length);
              expect(matched, JSON.stringify([matcher.source, text])).to.equal(false);
            }
          }
        },
      ),
      { numRuns: RUNS },
    );
    expect(passedOver).to.be.greaterThan(5 * RUNS);
  });

  it('look at more than the first byte', () => {
    const matchers = ['^\\d+-\\d+ ', '^\\d+:\\d+ ', '^\\d+ (\\d+) ', '^\\S+ \\.*b:', 'c'].map((source) =>
      compilePattern('osregex', source),
    );
    const sieves = sievesOf(matchers);
    const passed = (text: string): string => [...named(sieves, context, text, 0)].join();
    expect(passed('12-30 a b:')).to.equal('0,3');
    expect(passed('12:30 a b:')).to.equal('1,3');
    expect(passed('12 30 a b:')).to.equal('2,3');
    expect(passed('12 30 a b:c')).to.equal('2,3,4');
    expect(passed('12')).to.equal('');
  });

  it('find the same whatever they found before', () => {
    // Each of the patterns may have begun at any letter: the subjects lead to more states than are kept.
    const matchers = Array.from({ length: 12 }, (_, i) =>
      compilePattern('osregex', `^\\w*a${'\\w'.repeat(i)}b${String(i)}:`),
    );
    const sieves = sievesOf(matchers);
    let bits = 1;
    for (let round = 0; round < 150; round += 1) {
      let text = '';
      while (text.length < 30) {
        bits = (Math.imul(bits, 1_103_515_245) + 12_345) & 0x7fffffff;
        text += bits & 0x10000 ? 'a' : 'b';
      }
      for (const whole of [text, `${text}${String(round % 12)}:`]) {
        const passed = named(sieves, context, whole, 0);
        expect(passed, whole).to.deep.equal(named(sievesOf(matchers), context, whole, 0));
      }
    }
  });

  it('keep little of subjects that patterns by the hundred may each have begun anywhere in', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const matchers = Array.from({ length: 400 }, (_, i) =>
      compilePattern('osregex', `^\\w*a${'\\w'.repeat(i % 40)}b${String(i)}:`),
    );
    const sieves = sievesOf(matchers);
    sieves.prepare();
    collect();
    const before = process.memoryUsage();
    let bits = 1;
    for (let round = 0; round < 20; round += 1) {
      let text = '';
      while (text.length < 48) {
        bits = (Math.imul(bits, 1_103_515_245) + 12_345) & 0x7fffffff;
        text += bits & 0x10000 ? 'a' : 'b';
      }
      sieves.at(context.pin(text), 0);
    }
    expect(named(sieves, context, 'xab0:', 0).has(0)).to.equal(true);
    collect();
    const after = process.memoryUsage();
    const bytes = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    // 50 MB where 48 bytes of each subject are looked at
    expect(bytes).to.be.below(5 * 1024 * 1024);
  });
});
