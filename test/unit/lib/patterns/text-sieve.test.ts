import { expect } from 'chai';
import fc from 'fast-check';
import { compilePattern } from '../../../../lib/patterns/compile-pattern.js';
import { MatchContext, type Matcher } from '../../../../lib/patterns/matcher.js';
import { Subject } from '../../../../lib/patterns/subject.js';
import { TextSearch } from '../../../../lib/patterns/text-search.js';
import { TextSieve } from '../../../../lib/patterns/text-sieve.js';

const RUNS = Number(process.env['SVC_PATTERN_RUNS'] ?? 2000);

const text = fc
  .array(fc.constantFrom('a', 'b', 'ab', '1', '=', 'aab'), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join(''));
const subject = fc
  .array(fc.constantFrom('a', 'b', 'B', 'ab', 'Aab', '1', '=', ' ', '\xc3'), { maxLength: 20 })
  .map((parts) => parts.join(''));

describe('a search for many texts', () => {
  it('finds the first occurrence of each', () => {
    fc.assert(
      fc.property(fc.uniqueArray(text, { maxLength: 12 }), fc.array(subject, { maxLength: 4 }), (texts, subjects) => {
        const search = new TextSearch(texts);
        for (const whole of subjects) {
          const loaded = new Subject();
          loaded.load(whole);
          search.look(loaded);
          const expected = texts.map((each) => {
            const at = loaded.foldedText.indexOf(each);
            return at < 0 ? -1 : at + each.length;
          });
          expect([...search.ends], JSON.stringify([texts, whole])).to.deep.equal([...expected, 0]);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a sieve of many patterns with texts of their own', () => {
  const context = new MatchContext();
  const named = (sieve: TextSieve, whole: string): readonly [number, number][] => {
    const loaded = context.pin(whole);
    sieve.look(loaded, context);
    const ways: [number, number][] = [];
    for (let way = sieve.nextWay(0, loaded); way >= 0; way = sieve.nextWay(way + 1, loaded)) {
      expect(way).to.be.at.least(sieve.begin(sieve.position(way)));
      expect(way).to.be.below(sieve.begin(sieve.position(way) + 1));
      ways.push([sieve.position(way), sieve.alternative(way)]);
    }
    return ways;
  };
  const sieveOf = (matchers: readonly Matcher[]): TextSieve =>
    new TextSieve(matchers.map(({ requirements }) => requirements));
  const fields = (count: number): Matcher[] =>
    Array.from({ length: count }, (_, i) => {
      const name = `field${String(i)}`;
      return compilePattern('osregex', `${name}="(\\.*)"|${name}=(\\S+)`);
    });

  it('passes over no way in which a pattern matches', () => {
    const pattern = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.tuple(text, fc.constantFrom('', '\\w', '(\\S+)'), text).map((parts) => parts.join('')),
      },
      { weight: 1, arbitrary: fc.constantFrom('^\\w+=|\\d\\d', '\\s', '\xc3') },
    );
    const pairs = fc.tuple(pattern, pattern).map((parts) => compilePattern('osregex', parts.join('|')));
    let passedOver = 0;
    fc.assert(
      fc.property(
        fc.array(pairs, { minLength: 10, maxLength: 24 }),
        fc.array(subject, { minLength: 1, maxLength: 3 }),
        (matchers, subjects) => {
          const sieve = sieveOf([...matchers, compilePattern('pcre2', '^a'), compilePattern('pcre2', '.')]);
          for (const whole of subjects) {
            const ways = new Set(named(sieve, whole).map((way) => way.join()));
            expect(ways.has(`${String(matchers.length + 1)},-1`)).to.equal(true);
            for (const [position, matcher] of matchers.entries()) {
              for (const { alternative } of matcher.requirements ?? []) {
                if (ways.has([position, alternative].join())) continue;
                passedOver += 1;
                const matched = matcher.exec(whole, context, 0, alternative);
                expect(matched, JSON.stringify([matcher.source, alternative, whole])).to.equal(false);
              }
            }
          }
        },
      ),
      { numRuns: RUNS / 4 },
    );
    expect(passedOver).to.be.greaterThan(5 * RUNS);
  });

  it('says where the text stands that a match begins with, and each field is found from there', () => {
    const name = fc.constantFrom('a=', 'aab=', 'ab1=', 'baab', '1aab');
    const tail = fc.constantFrom(
      '(\\S+)',
      '(\\d+)',
      '(\\.*) ',
      '(\\d+)b',
      '(\\w)(\\d+)',
      '\\w \\w',
      '(aab)(1\\d*)',
      '(1)(\\d)',
    );
    const field = fc.tuple(name, tail).map(([each, end]) => compilePattern('osregex', `${each}${end}|aab1=${end}`));
    const line = fc
      .array(fc.constantFrom('a=', 'Aab=', 'ab1=', 'baab', '1', 'b', 'b1', ' ', 'a=b1', 'aab=1 1', 'a=aab1'), {
        maxLength: 8,
      })
      .map((parts) => parts.join(''));
    let found = 0;
    fc.assert(
      fc.property(fc.array(field, { minLength: 10, maxLength: 20 }), line, fc.nat(6), (matchers, whole, from) => {
        const sieve = sieveOf(matchers);
        const loaded = context.pin(whole);
        sieve.look(loaded, context);
        const result = (matched: boolean): unknown =>
          matched && [context.end, context.captures.slice(0, context.captureCount)];
        for (let way = sieve.nextWay(0, loaded); way >= 0; way = sieve.nextWay(way + 1, loaded)) {
          const matcher = matchers[sieve.position(way)];
          const alternative = sieve.alternative(way);
          const at = sieve.found(way);
          if (matcher === undefined || at < 0) continue;
          found += 1;
          const first = matcher.requirements?.[alternative]?.texts[0] ?? '';
          expect(loaded.foldedText.indexOf(first)).to.equal(at);
          const begin = Math.min(from, whole.length);
          const told = result(matcher.exec(whole, context, begin, alternative, at));
          expect(told, JSON.stringify([matcher.source, alternative, whole, begin])).to.deep.equal(
            result(matcher.exec(whole, context, begin, alternative)),
          );
        }
      }),
      { numRuns: 2 * RUNS },
    );
    expect(found).to.be.greaterThan(RUNS);
  });

  it('tells by the whole text which patterns are tried', () => {
    // Each pair of neighbouring bytes of "field2=" is there.
    const line = 'field1="x" field22="y" old2=z';
    expect(named(sieveOf(fields(30)), line)).to.deep.equal([
      [1, 0],
      [1, 1],
      [22, 0],
      [22, 1],
    ]);
    expect(named(sieveOf(fields(3)), line)).to.deep.include([2, 1]);
  });

  it('counts the look through the subject', () => {
    const steps = (count: number): number => {
      context.stepsLeft = 1000;
      const sieve = sieveOf(fields(count));
      sieve.look(context.pin(' '.repeat(800)), context);
      return 1000 - context.stepsLeft;
    };
    expect(steps(3)).to.equal(0);
    expect(steps(30)).to.equal(100);
  });

  it('spares the search for a text that was found', () => {
    for (const source of ['field="(\\S+)"', 'field="(\\S+)" \\d+']) {
      const matcher = compilePattern('osregex', source);
      const whole = `${' '.repeat(800)}field="x" 1`;
      const steps = (found: number): number => {
        context.stepsLeft = 1000;
        expect(matcher.exec(whole, context, 0, 0, found)).to.equal(true);
        return 1000 - context.stepsLeft;
      };
      context.pin(whole);
      expect(steps(800)).to.be.below(20);
      expect(steps(-1)).to.be.above(100);
    }
  });
});
