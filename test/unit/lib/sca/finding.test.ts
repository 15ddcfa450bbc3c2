import { expect } from 'chai';
import fc from 'fast-check';
import {
  every,
  type Finding,
  FOUND,
  invalid,
  negate,
  NOT_FOUND,
  type Outcome,
  some,
} from '../../../../lib/sca/finding.js';

const OUTCOMES: Readonly<Record<Finding, Outcome>> = { found: FOUND, 'not-found': NOT_FOUND, invalid: invalid('why') };
const FINDINGS = Object.keys(OUTCOMES) as Finding[];
const look = (finding: Finding): Outcome => OUTCOMES[finding];

describe('three-valued findings', () => {
  const tables: [string, typeof every, Record<Finding, readonly Finding[]>][] = [
    [
      'all of two',
      every,
      {
        found: ['found', 'not-found', 'invalid'],
        'not-found': ['not-found', 'not-found', 'not-found'],
        invalid: ['invalid', 'not-found', 'invalid'],
      },
    ],
    [
      'one of two',
      some,
      {
        found: ['found', 'found', 'found'],
        'not-found': ['found', 'not-found', 'invalid'],
        invalid: ['found', 'invalid', 'invalid'],
      },
    ],
  ];
  for (const [name, combine, table] of tables) {
    for (const first of FINDINGS) {
      for (const [index, second] of FINDINGS.entries()) {
        it(`${name}: ${first} and ${second} are ${String(table[first][index])}`, () => {
          expect(combine([first, second], look).finding).to.equal(table[first][index]);
        });
      }
    }
  }

  it('stay what they are when they are negated twice, and invalid stays invalid with its reason', () => {
    expect(FINDINGS.map((finding) => negate(look(finding)).finding)).to.deep.equal(['not-found', 'found', 'invalid']);
    for (const finding of FINDINGS) expect(negate(negate(look(finding)))).to.deep.equal(look(finding));
    expect(negate(invalid('a reason')).reason).to.equal('a reason');
  });

  it('follow De Morgan, whatever their order', () => {
    const findings = fc.array(fc.constantFrom(...FINDINGS), { maxLength: 6 });
    fc.assert(
      fc.property(findings, (all) => {
        const negated = every(all, (finding) => negate(look(finding)));
        expect(negate(some(all, look)).finding).to.equal(negated.finding);
        expect(some([...all].reverse(), look).finding).to.equal(some(all, look).finding);
      }),
    );
  });

  it('tell the reason of the first that is invalid, and look no further than they must', () => {
    const seen: number[] = [];
    const outcomes = [NOT_FOUND, invalid('first'), invalid('second'), FOUND, invalid('never')];
    const note = (index: number): Outcome => {
      seen.push(index);
      return outcomes[index] ?? NOT_FOUND;
    };
    expect(some([0, 1, 2], note)).to.deep.equal(invalid('first'));
    expect(some([0, 1, 3, 4], note)).to.deep.equal(FOUND);
    expect(seen).to.deep.equal([0, 1, 2, 0, 1, 3]);
  });
});
