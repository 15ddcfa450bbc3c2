import { expect } from 'chai';
import fc from 'fast-check';
import { MatchContext } from '../../../../lib/patterns/matcher.js';
import { parsePcre2 } from '../../../../lib/patterns/pcre2/parse.js';
import { Pcre2 } from '../../../../lib/patterns/pcre2/pcre2.js';
import { compileProgram } from '../../../../lib/patterns/pcre2/program.js';
import { toRegExp } from '../../../../lib/patterns/pcre2/to-reg-exp.js';

const RUNS = Number(process.env['SVC_PATTERN_RUNS'] ?? 3000);
const STEPS = 200_000;

const atom = fc.constantFrom(
  'a',
  'b',
  'c',
  '1',
  ' ',
  '.',
  '\\d',
  '\\w',
  '\\s',
  '[ab]',
  '[^a]',
  '\\b',
  '\\B',
  '^',
  '\\S',
);
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '*?', '+?', '??', '{1,2}', '{2}', '{1,}?');
const quantifiable = (text: string): boolean => !['^', '\\b', '\\B'].includes(text);
const item = fc.tuple(atom, quantifier).map(([text, count]) => (quantifiable(text) ? text + count : text));
const { pattern } = fc.letrec<{ pattern: string; group: string }>((tie) => ({
  pattern: fc
    .array(fc.oneof({ weight: 3, arbitrary: item }, { weight: 1, arbitrary: tie('group') }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => parts.join('')),
  group: fc
    .tuple(
      fc.constantFrom('(', '(?:', '(', '(?=', '(?!'),
      fc.array(tie('pattern'), { minLength: 1, maxLength: 2 }),
      quantifier,
    )
    .map(
      ([open, branches, count]) => `${open}${branches.join('|')})${open.length === 3 && open !== '(?:' ? '' : count}`,
    ),
}));
// No newlines and nothing above ASCII: there JavaScript's own reading of the same source is a third opinion.
const subject = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ', '-'), maxLength: 12 });

type Result = { readonly end: number; readonly captures: string[] } | undefined;

function resultOf(match: RegExpExecArray | null): Result {
  if (match === null) return undefined;
  const groups: (string | undefined)[] = match.slice(1);
  while (groups.length > 0 && groups.at(-1) === undefined) groups.pop();
  return { end: match.index + match[0].length, captures: groups.map((group) => group ?? '') };
}

describe('PCRE2 back-ends', () => {
  const context = new MatchContext();

  const counted = (source: string, text: string): Result | 'exhausted' => {
    const parsed = parsePcre2(source);
    context.stepsLeft = STEPS;
    context.exhausted = false;
    const matched = context.backtracking.run(compileProgram(parsed), context.subject(text), context);
    if (context.exhausted) return 'exhausted';
    if (!matched) return undefined;
    const { registers } = context.backtracking;
    const captures: string[] = [];
    for (let group = parsed.captures; group > 0; group -= 1) {
      const start = registers[2 * group] ?? -1;
      if (start >= 0 || captures.length > 0) {
        captures.unshift(start < 0 ? '' : text.slice(start, registers[2 * group + 1]));
      }
    }
    return { end: registers[1] ?? -1, captures };
  };

  it('agree with each other, and with JavaScript where it means the same', () => {
    let compared = 0;
    fc.assert(
      fc.property(pattern, fc.array(subject, { minLength: 1, maxLength: 3 }), (source, texts) => {
        const regExp = toRegExp(parsePcre2(source).root, undefined);
        for (const text of texts) {
          const name = JSON.stringify([source, text]);
          const expected = counted(source, text);
          if (expected === 'exhausted') continue;
          if (regExp !== undefined) {
            compared += 1;
            expect(resultOf(regExp.exec(text)), name).to.deep.equal(expected);
            expect(resultOf(new RegExp(source).exec(text)), name).to.deep.equal(expected);
          }
          context.stepsLeft = STEPS;
          const matched = new Pcre2(source).exec(text, context);
          const chosen = matched
            ? { end: context.end + 1, captures: context.captures.slice(0, context.captureCount) }
            : undefined;
          expect(chosen, name).to.deep.equal(expected);
        }
      }),
      { numRuns: RUNS },
    );
    expect(compared).to.be.greaterThan(RUNS / 2);
  });
});
