import { expect } from 'chai';
import fc from 'fast-check';
import { firstVariant, isVariant, nextVariant } from '../../../../../daemons/db/fim/case-variants.js';

/** All spellings, ascending. */
function spellings(path: Buffer): Buffer[] {
  let all: number[][] = [[]];
  for (const byte of path) {
    const text = String.fromCharCode(byte);
    const isLetter = /[a-z]/i.test(text);
    const ways = isLetter ? [text.toUpperCase().charCodeAt(0), text.toLowerCase().charCodeAt(0)] : [byte];
    all = all.flatMap((start) => ways.map((way) => [...start, way]));
  }
  return all.map((bytes) => Buffer.from(bytes)).sort((one, other) => Buffer.compare(one, other));
}

const byte = fc.constantFrom(...Buffer.from('aAbBzZ/@[`{_0'), 0x80, 0xc4, 0xe4, 0xff, 1);
const path = fc.array(byte, { minLength: 1, maxLength: 6 }).map((bytes) => Buffer.from(bytes));

describe('Spellings of a path', () => {
  it('gives the first one behind any bytes', () => {
    fc.assert(
      fc.property(path, path, (wanted, behind) => {
        const all = spellings(wanted);
        expect(firstVariant(wanted)).to.deep.equal(all[0]);
        const next = all.find((spelling) => Buffer.compare(spelling, behind) > 0);
        expect(nextVariant(wanted, behind)).to.deep.equal(next);
        for (const spelling of all) expect(isVariant(wanted, spelling)).to.equal(true);
        expect(isVariant(wanted, behind)).to.equal(all.some((spelling) => spelling.equals(behind)));
      }),
      { numRuns: 2000 },
    );
  });

  it('finds one among others in few looks', () => {
    const stored = ['/ETC/passwd', '/bin/ls', '/etc/Passwd', '/etc/passwd', '/etc/passwd-', '/usr/bin/id']
      .concat(Array.from({ length: 5000 }, (_none, index) => `/etc/p${String(index)}/passwd`))
      .map((text) => Buffer.from(text))
      .sort((one, other) => Buffer.compare(one, other));
    const wanted = Buffer.from('/Etc/passwd');
    const found: string[] = [];
    let looks = 0;
    for (let next: Buffer | undefined = firstVariant(wanted); next !== undefined; looks += 1) {
      const from: Buffer = next;
      const there: Buffer | undefined = stored.find((entry) => Buffer.compare(entry, from) >= 0);
      if (there !== undefined && isVariant(wanted, there)) found.push(there.toString());
      next = there === undefined ? undefined : nextVariant(wanted, there);
    }
    expect(found).to.deep.equal(['/ETC/passwd', '/etc/Passwd', '/etc/passwd']);
    expect(looks).to.be.lessThan(20);
  });
});
