import { expect } from 'chai';
import fc from 'fast-check';
import { LinePattern, type ScaLanguage } from '../../../../lib/sca/line-pattern.js';
import { readComparison, readInteger } from '../../../../lib/sca/numeric-comparison.js';
import { StepBudget } from '../../../../lib/sca/step-budget.js';

const on = (line: string, pattern: string, language: ScaLanguage = 'osregex') =>
  new LinePattern(pattern, language).test(line, new StepBudget());
const finding = (line: string, pattern: string, language?: ScaLanguage) => on(line, pattern, language).finding;

describe('the pattern of a rule', () => {
  it('has all minterms hold on the same line', () => {
    const pattern = '!r:^# && r:PermitRootLogin\\s+no';
    expect(finding('PermitRootLogin no', pattern)).to.equal('found');
    expect(finding('# PermitRootLogin no', pattern)).to.equal('not-found');
    expect(finding('PermitRootLogin yes', pattern)).to.equal('not-found');
  });

  it('takes a text without a type for the whole line, case aside', () => {
    expect(finding('Install cramfs /bin/True', 'install CRAMFS /bin/true')).to.equal('found');
    expect(finding('install cramfs /bin/true ', 'install cramfs /bin/true')).to.equal('not-found');
    expect(finding('b', '!a')).to.equal('found');
    expect(finding('x', '!!x')).to.equal('found');
  });

  it('has the two regex languages mean what each means', () => {
    expect(finding('a.b', 'r:^a\\.b$', 'pcre2')).to.equal('found');
    expect(finding('axb', 'r:^a\\.b$', 'pcre2')).to.equal('not-found');
    // Any character in the native language (integrity-and-inventory.md 15, trap 25).
    expect(finding('axb', 'r:^a\\.b$')).to.equal('found');
    expect(finding('ROOT', 'r:root')).to.equal('found');
    expect(finding('ROOT', 'r:root', 'pcre2')).to.equal('not-found');
    expect(finding('root', 'R:root')).to.equal('found');
  });

  for (const [operator, results] of [
    ['<', ['found', 'not-found', 'not-found']],
    ['<=', ['found', 'found', 'not-found']],
    ['=', ['not-found', 'found', 'not-found']],
    ['==', ['not-found', 'found', 'not-found']],
    ['!=', ['found', 'not-found', 'found']],
    ['>=', ['not-found', 'found', 'found']],
    ['>', ['not-found', 'not-found', 'found']],
  ] as const) {
    it(`compares numbers by ${operator}`, () => {
      const values = ['MaxAuthTries 3', 'MaxAuthTries 4', 'MaxAuthTries 5'];
      const pattern = `n:^MaxAuthTries\\s+(\\d+)$ compare ${operator} 4`;
      expect(values.map((line) => finding(line, pattern, 'pcre2'))).to.deep.equal(results);
    });
  }

  it('compares two numbers of one line', () => {
    const pattern = 'n:^a=(\\d+) compare > 1 && n:b=(\\d+)$ compare < 10';
    expect(finding('a=2 b=9', pattern, 'pcre2')).to.equal('found');
    expect(finding('a=2 b=10', pattern, 'pcre2')).to.equal('not-found');
    expect(finding('a=1 b=x', pattern, 'pcre2')).to.equal('not-found');
  });

  it('is invalid where a number cannot be compared, unless another minterm says no', () => {
    const cases: [string, RegExp][] = [
      ['n:(\\w+) compare > 1', /captured is no integer/],
      ['n:\\w+ compare > 1', /No number was captured/],
      ['n:(\\d+) > 1', /there is no 'compare'/],
      ['n:(\\d+) compare 1', /has no operator/],
      ['n:(\\d+) compare >', /has no number/],
      ['r:(', /Invalid regex '\('/],
      ['!r:(', /Invalid regex '\('/],
    ];
    for (const [pattern, reason] of cases) {
      const outcome = on('word', pattern, 'pcre2');
      expect([pattern, outcome.finding]).to.deep.equal([pattern, 'invalid']);
      expect(outcome.reason).to.match(reason);
      expect(finding('word', `${pattern} && r:nothing`, 'pcre2')).to.equal('not-found');
      expect(finding('word', `${pattern} && r:word`, 'pcre2')).to.equal('invalid');
    }
    expect(finding('nothing here', 'n:(\\d+) compare > 1', 'pcre2')).to.equal('not-found');
  });

  it('is invalid when a regex takes too many steps, and goes no further than the budget of its rule', () => {
    const costly = new LinePattern('r:^(a|aa|a?)+\\1$', 'pcre2');
    const line = `${'a'.repeat(200)}b`;
    const budget = new StepBudget(3_000_000);
    const begun = performance.now();
    for (let count = 0; count < 50; count += 1) {
      expect(costly.test(line, budget).reason).to.equal('A regex took too many steps on a line');
    }
    expect(performance.now() - begun).to.be.below(2000);
  });

  it('has nothing left when the steps of a rule are used up', () => {
    const cheap = new LinePattern('r:^(a|b)+\\1z?x$', 'pcre2');
    const number = new LinePattern('n:(a|b)+\\1(\\d+)$ compare > 1', 'pcre2');
    const line = `${'ab'.repeat(500)}x1`;
    const budget = new StepBudget(20_000);
    const findings = Array.from({ length: 2000 }, () => cheap.test(line, budget).finding);
    expect([findings[0], findings.at(-1)]).to.deep.equal(['not-found', 'invalid']);
    expect(number.test(line, budget).finding).to.equal('invalid');
    expect(cheap.test(line, new StepBudget()).finding).to.equal('not-found');
    expect(cheap.test(line, new StepBudget(0)).finding).to.equal('invalid');
  });

  it('tells what of it can never be said', () => {
    expect(new LinePattern('r:a && n:( compare > 1 && n:x', 'pcre2').problems).to.have.length(2);
    expect(new LinePattern('r:a && n:(\\d) compare > 1 && text', 'pcre2').problems).to.deep.equal([]);
  });

  it('compares numbers of any size, and knows an integer when it sees one', () => {
    const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
    fc.assert(
      fc.property(digits, fc.bigInt({ min: 0n, max: 10n ** 30n }), (value, wanted) => {
        const compare = readComparison(`(x) compare >= ${wanted}`);
        if (typeof compare === 'string') throw new Error(compare);
        expect(compare.holds(readInteger(`${value} kB`) ?? -1n)).to.equal(value >= wanted);
      }),
    );
    expect(['', '-', 'x1', '9'.repeat(65)].map(readInteger)).to.deep.equal([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect([' +7', '-08x'].map(readInteger)).to.deep.equal([7n, -8n]);
  });

  it('takes any bytes as pattern and as line', () => {
    const bytes = fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)) });
    const minterm = fc.tuple(fc.constantFrom('', '!', 'r:', '!r:', 'n:', '!n:'), bytes).map((parts) => parts.join(''));
    const pattern = fc.array(minterm, { minLength: 1, maxLength: 4 }).map((minterms) => minterms.join(' && '));
    fc.assert(
      fc.property(pattern, bytes, fc.constantFrom('osregex', 'pcre2'), (source, line, language) => {
        const outcome = on(line, source, language);
        expect(outcome.finding).to.be.oneOf(['found', 'not-found', 'invalid']);
        expect(outcome.reason !== undefined).to.equal(outcome.finding === 'invalid');
      }),
    );
  });
});
