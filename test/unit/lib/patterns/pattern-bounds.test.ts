import { expect } from 'chai';
import fc from 'fast-check';
import { compilePattern } from '../../../../lib/patterns/compile-pattern.js';
import { MatchContext, type PatternLanguage } from '../../../../lib/patterns/matcher.js';
import { type PatternGrowth, patternGrowth } from '../../../../lib/patterns/pattern-growth.js';
import { isAnchored, leadingRun } from '../../../../lib/patterns/pcre2/analyse.js';
import { costModelOf } from '../../../../lib/patterns/pcre2/cost-model.js';
import { parsePcre2 } from '../../../../lib/patterns/pcre2/parse.js';
import { compileProgram } from '../../../../lib/patterns/pcre2/program.js';
import { pairsOf, Subject } from '../../../../lib/patterns/subject.js';

const BUDGET = 300_000;
const LONG = 65_536;

/** A subject of the longest size that ends with `tail`. */
function long(unit: string, tail = ''): string {
  return unit.repeat(Math.floor((LONG - tail.length) / unit.length)) + tail;
}

describe('step budget', () => {
  const costly: [PatternLanguage, string, string][] = [
    ['pcre2', '(a+)+$', long('a', '!')],
    ['pcre2', '(a|aa)+$', `${'a'.repeat(60)}!`],
    ['pcre2', '(a|a)*b!', `${'b!'.padStart(60, 'a').replace('b!', 'c b!')}!`],
    ['pcre2', '^(?:a?){50}a{50}b', `${'a'.repeat(49)}cab`],
    ['pcre2', 'a.*b.*c.*d', `d${long('abc').slice(1)}`],
    ['pcre2', '(\\w+\\s?)+!:', `!: ${'word '.repeat(12)}`],
    ['pcre2', '(?s).*?x.*?y.*?z', `zy${long('x').slice(2)}`],
    ['pcre2', '(\\((?:[^()]|(?1))*\\))!', long('((', ')\n!').replaceAll('\n', '')],
    ['osregex', '\\w*a\\w*a\\w*a\\w*a\\w*ab', `ab ${'a'.repeat(300)} `],
    ['osregex', 'ab\\w+c:', `c:${long('ab').slice(3)} `],
  ];
  for (const [language, source, subject] of costly) {
    it(`ends ${language} ${source}, as no match, when it is used up`, () => {
      const context = new MatchContext();
      const matcher = compilePattern(language, source);
      expect(matcher.cost).to.equal('guarded');
      context.stepsLeft = BUDGET;
      expect(matcher.test(subject, context)).to.equal(false);
      expect(context.exhausted).to.equal(true);
      expect(context.stepsLeft).to.equal(0);
    });
  }

  it('is taken from, a little, by patterns whose cost is linear', () => {
    const context = new MatchContext();
    for (const [language, source, subject] of [
      ['osmatch', 'failure|^start', 'a FAILURE'],
      ['pcre2', '(?i)powershell\\.exe', 'C:\\PowerShell.exe'],
      ['pcre2', '^\\[(\\w+)', '[abc]'],
    ] as const) {
      const matcher = compilePattern(language, source);
      expect(matcher.cost, source).to.equal('linear');
      context.stepsLeft = 100;
      expect(matcher.test(subject, context), source).to.equal(true);
      expect(context.stepsLeft, source).to.be.within(50, 99);
      expect(context.exhausted, source).to.equal(false);
    }
  });

  it('is taken from for comparisons that fail in the end', () => {
    const used = (length: number): number => {
      const context = new MatchContext();
      compilePattern('pcre2', '(a*)\\1b').test(`${'a'.repeat(length)}cb`, context);
      return Number.MAX_SAFE_INTEGER - context.stepsLeft;
    };
    // Steps for each of n^2 / 2 comparisons, whose lengths grow with n, too.
    expect(used(600) / used(300)).to.be.above(5);
  });

  it('ends texts by the thousand in one pattern', () => {
    const texts = Array.from({ length: 2500 }, (_, i) => `a${(i + 46_656).toString(36)}`);
    // all that the index knows of the texts, and none of them
    const threes = new Set(texts.flatMap((text) => [text.slice(0, 3), text.slice(1, 4), text.slice(2, 5)]));
    const subject = long([...threes].join(' '));
    for (const [language, source] of [
      ['osmatch', `!${texts.join('|')}`],
      ['osregex', texts.join('|')],
      ['osregex', texts.map((text) => `${text}\\d`).join('|')],
    ] as const) {
      const context = new MatchContext();
      context.subject(subject);
      context.stepsLeft = BUDGET / 10;
      expect(compilePattern(language, source).test(subject, context), source.slice(0, 20)).to.equal(false);
      expect(context.exhausted, source.slice(0, 20)).to.equal(true);
    }
  });

  it('is taken from for subjects that are long', () => {
    const context = new MatchContext();
    const matcher = compilePattern('osmatch', 'nowhere');
    const used = (subject: string): number => {
      context.stepsLeft = BUDGET;
      matcher.test(subject, context);
      return BUDGET - context.stepsLeft;
    };
    expect(used('short')).to.equal(0);
    expect(used(long('long'))).to.be.above(5000);
    expect(used(long('long'))).to.equal(0);
    context.forget();
    expect(used(long('long'))).to.be.above(5000);
  });

  it('is taken in the same steps whatever the context has seen before', () => {
    const source = '(a|ab)+c.*d!';
    const subject = `${'ab'.repeat(40)} c d!`;
    const used = (context: MatchContext): number => {
      context.stepsLeft = BUDGET;
      compilePattern('pcre2', source).test(subject, context);
      return BUDGET - context.stepsLeft;
    };
    const fresh = new MatchContext();
    const worn = new MatchContext();
    for (let i = 0; i < 300; i += 1) worn.subject(`another line ${String(i)}`);
    expect(used(worn)).to.equal(used(fresh)).and.to.be.greaterThan(0);
    expect(used(worn)).to.equal(used(fresh));
  });

  it('lets unanchored repeats pass over a long subject once', () => {
    const context = new MatchContext();
    for (const [source, subject] of [
      ['\\w+\\d', long('a')],
      ['\\s+$', long(' ', 'x')],
      ['.*server = ([^:]+):(\\d+)', long('a', 'server = ')],
    ] as const) {
      context.stepsLeft = BUDGET;
      context.exhausted = false;
      expect(compilePattern('pcre2', source).test(subject, context), source).to.equal(false);
      expect(context.exhausted, source).to.equal(false);
    }
  });
});

describe('long texts', () => {
  it('are found where they stand first', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'A', 'b'), maxLength: 40 });
    fc.assert(
      fc.property(letters, letters, letters, (before, unit, behind) => {
        const text = (unit + before).repeat(300).slice(0, 250) + behind;
        const subject = before + text.slice(0, 220) + behind + before + text + behind;
        const context = new MatchContext();
        for (const wanted of [text, `${text}c`]) {
          const matched = compilePattern('osregex', wanted).exec(subject, context);
          const at = subject.toLowerCase().indexOf(wanted.toLowerCase());
          expect(matched).to.equal(at >= 0);
          if (matched) expect(context.end).to.equal(wanted === '' ? 0 : at + wanted.length - 1);
        }
      }),
    );
  });

  it('are searched for in time that grows with the subject alone', () => {
    const context = new MatchContext();
    const wanted = `b${'a'.repeat(20_000)}`;
    const subject = `${'a'.repeat(1 << 20)}ba`;
    // Minutes, if each place were compared with all of the text.
    for (let i = 0; i < 20; i += 1) expect(compilePattern('osmatch', wanted).test(subject, context)).to.equal(false);
    expect(compilePattern('osregex', `${wanted}\\d`).test(subject, context)).to.equal(false);
  });
});

describe('thousands of groups', () => {
  it('do not overflow a stack in the middle of a match', () => {
    const context = new MatchContext();
    expect(compilePattern('pcre2', '(a)'.repeat(6000)).test('a'.repeat(6000), context)).to.equal(true);
  });
});

describe('patternGrowth', () => {
  const cases: [PatternLanguage, string, PatternGrowth][] = [
    ['osmatch', 'a|b', 'linear'],
    ['osregex', 'abc', 'linear'],
    ['osregex', '^\\S+ \\d+', 'linear'],
    ['osregex', '\\w+a\\w+', 'polynomial'],
    ['pcre2', '(?i)cmd\\.exe', 'linear'],
    ['pcre2', '^(\\S+) (\\d+)$', 'linear'],
    ['pcre2', 'a.*b.*c', 'polynomial'],
    ['pcre2', '(a+)+$', 'exponential'],
    ['pcre2', '(\\w)\\1', 'exponential'],
  ];
  for (const [language, source, growth] of cases) {
    it(`${language} ${source}: ${growth}`, () => {
      expect(patternGrowth(compilePattern(language, source))).to.equal(growth);
    });
  }
});

describe('CostModel', () => {
  const atom = fc.constantFrom('a', 'b', 'c', ' ', '.', '\\d', '\\w', '\\s', '[ab]', '[^a]', '1');
  const quantifier = fc.constantFrom('', '', '*', '+', '?', '*?', '+?', '{1,3}', '{1,20}', '{0,40}?');
  const item = fc.tuple(atom, quantifier).map((parts) => parts.join(''));
  const plain = fc.array(item, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''));
  const group = fc
    .tuple(fc.constantFrom('(', '(?:', '(?=', '(?!'), fc.array(plain, { minLength: 1, maxLength: 2 }), quantifier)
    .map(([open, branches, count]) => `${open}${branches.join('|')})${/[=!]$/.test(open) ? '' : count}`);
  const pattern = fc.array(fc.oneof({ weight: 2, arbitrary: plain }, group), { minLength: 1, maxLength: 3 });
  const subject = fc
    .tuple(fc.constantFrom('a', 'ab', 'a ', 'ab1 c', 'a1', 'aab '), fc.nat(300), fc.constantFrom('', '!', '1', 'b'))
    .map(([unit, size, tail]) => unit.repeat(size / unit.length) + tail);

  it('is never below what the machine does, but for a constant factor', () => {
    const context = new MatchContext();
    fc.assert(
      fc.property(pattern, subject, (parts, text) => {
        const parsed = parsePcre2(parts.join(''));
        const anchored = isAnchored(parsed.root);
        const model = costModelOf(parsed.root, anchored);
        if (model === undefined) return;
        const loaded = context.subject(text);
        const bound = model.boundOn(loaded);
        const budget = 2_000_000;
        context.stepsLeft = budget;
        const program = compileProgram(parsed, anchored ? undefined : leadingRun(parsed.root));
        context.backtracking.run(program, loaded, context);
        const name = JSON.stringify([parts.join(''), text]);
        expect(budget - context.stepsLeft, name).to.be.at.most(4 * bound + 20);
        expect(bound, name).to.be.at.most(model.boundFor(text.length));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('Subject', () => {
  const bytes = fc.uint8Array({ maxLength: 60 }).map((raw) => Buffer.from(raw).toString('latin1'));

  it('never rules out a text that is there', () => {
    fc.assert(
      fc.property(bytes, bytes, bytes, (before, text, behind) => {
        const subject = new Subject();
        subject.load(before + text + behind);
        const folded = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
        expect(subject.mayContain(pairsOf([folded]))).to.equal(true);
        expect(subject.foldedText).to.include(folded);
      }),
    );
  });

  it('takes bytes four at a time for what they are one by one', () => {
    const entries = (text: string): number[] => {
      const subject = new Subject();
      subject.load(text);
      return [...subject.seen.keys()].filter((entry) => subject.seen[entry] === subject.round);
    };
    fc.assert(
      fc.property(bytes, fc.nat(3), (text, cut) => {
        const subject = new Subject();
        subject.load(text);
        expect(subject.hasHighByte).to.equal(/[\x80-\xff]/.test(text));
        expect(subject.foldedText).to.equal(text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()));
        // What stands in the buffer behind the text is no part of it.
        subject.load(text.slice(0, -cut || undefined));
        const shorter = [...subject.seen.keys()].filter((entry) => subject.seen[entry] === subject.round);
        expect(shorter).to.deep.equal(entries(text.slice(0, -cut || undefined)));
        const alone = new Set(
          [entries(''), ...Array.from(text, (_, i) => entries(text.slice(Math.max(0, i - 2), i + 1)))].flat(),
        );
        for (const entry of entries(text)) expect([...alone]).to.include(entry);
      }),
    );
  });

  it('rules out a text whose pairs of bytes are all there', () => {
    const subject = new Subject();
    subject.load('her error or terrible rest');
    expect(subject.mayContain(pairsOf(['error']))).to.equal(true);
    subject.load('her rr ro or');
    expect(subject.mayContain(pairsOf(['er', 'rr', 'ro', 'or']))).to.equal(true);
    expect(subject.mayContain(pairsOf(['error']))).to.equal(false);
  });

  it('rules out most texts that are not there, also after many others', () => {
    const subject = new Subject();
    for (let i = 0; i < 600; i += 1) subject.load(`line ${String(i)} zzzzqq`);
    subject.load('sshd[123]: Accepted publickey for root');
    expect(subject.mayContain(pairsOf(['zzqq']))).to.equal(false);
    expect(subject.mayContain(pairsOf(['%']))).to.equal(false);
    expect(subject.mayContain(pairsOf(['accepted']))).to.equal(true);
  });
});
