import { expect } from 'chai';
import fc from 'fast-check';
import { PatternError } from '../../../../lib/patterns/pattern-error.js';
import { canExplode, patternGrowth } from '../../../../lib/patterns/pattern-growth.js';
import type { PatternNode } from '../../../../lib/patterns/pcre2/ast.js';
import { costModelOf, isBounded } from '../../../../lib/patterns/pcre2/cost-model.js';
import { parsePcre2 } from '../../../../lib/patterns/pcre2/parse.js';
import { Pcre2 } from '../../../../lib/patterns/pcre2/pcre2.js';
import { certainlyCompiles, compileProgram } from '../../../../lib/patterns/pcre2/program.js';

const atom = fc.constantFrom(
  'a',
  '.',
  '\\d',
  '[^a]',
  '\\b',
  '(?:ab|c|)',
  '(x)',
  '(?=a)',
  '(?<=ab|cd)',
  '(?<!a)',
  '\\1',
);
const count = fc.constantFrom('', '', '*', '+?', '?', '{2}', '{1,20}', '{0,90}', '{50}', '{16}', '{17}', '{3,}', '++');
/** Patterns whose repeats, written out, come near to the largest program and go beyond it. */
const { pattern } = fc.letrec<{ pattern: string; item: string }>((tie) => ({
  pattern: fc
    .array(tie('item'), { minLength: 1, maxLength: 4 })
    .chain((items) => fc.constantFrom(items.join(''), items.join('|'))),
  item: fc.oneof(
    { maxDepth: 4 },
    fc.tuple(atom, count).map(([text, times]) => text + (/^\\b|^\(\?[=<]/.test(text) ? '' : times)),
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?>'), tie('pattern'), count)
      .map(([open, inside, times]) => `${open}${inside})${times}`),
  ),
}));

function parsed(source: string): { readonly root: PatternNode; readonly captures: number } | undefined {
  try {
    return parsePcre2(source);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

describe('PCRE2 patterns that are compiled when they are needed', () => {
  it('are refused at once when their program cannot be compiled', () => {
    let refused = 0;
    let certain = 0;
    fc.assert(
      fc.property(pattern, (source) => {
        const tree = parsed(source);
        if (tree === undefined) return;
        let fails = false;
        try {
          compileProgram({ ...tree, utf: false });
        } catch (error) {
          if (!(error instanceof PatternError)) throw error;
          fails = true;
        }
        if (certainlyCompiles(tree.root)) certain += 1;
        if (fails) {
          refused += 1;
          expect(certainlyCompiles(tree.root), source).to.equal(false);
          expect(() => new Pcre2(source), source).to.throw(PatternError);
        } else {
          expect(() => new Pcre2(source), source).to.not.throw();
        }
      }),
      { numRuns: 120 },
    );
    expect(refused).to.be.greaterThan(2);
    expect(certain).to.be.greaterThan(20);
  });

  it('are refused where a RegExp would take them', () => {
    // V8 compiles this one; its repeats written out are too many for our own program
    const source = '(?:(?:(?:abc|d){90}){90}){90}';
    expect(() => new RegExp(source)).to.not.throw();
    expect(() => new Pcre2(source)).to.throw(PatternError, 'too large');
    expect(() => new Pcre2('(?<=a+)b')).to.throw(PatternError, 'fixed length');
    expect(() => new Pcre2('(?(?<=a+)b|c)')).to.throw(PatternError, 'fixed length');
  });

  it('know whether they can explode without a look at how', () => {
    let bounded = 0;
    fc.assert(
      fc.property(pattern, (source) => {
        const tree = parsed(source);
        if (tree === undefined || !certainlyCompiles(tree.root)) return;
        const matcher = new Pcre2(source);
        expect(canExplode(matcher), source).to.equal(patternGrowth(matcher) === 'exponential');
        if (source.includes('\\1') || !isBounded(tree.root)) return;
        bounded += 1;
        expect(costModelOf(tree.root, false), source).to.not.equal(undefined);
      }),
      { numRuns: 400 },
    );
    expect(bounded).to.be.greaterThan(20);
  });
});
