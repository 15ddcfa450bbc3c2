import { expect } from 'chai';
import fc from 'fast-check';
import { Seal, SealError } from '../../../../daemons/clusterd/nats/sealing.js';

const KEY = 'a'.repeat(32);

describe('Seal', () => {
  const seal = new Seal(KEY, 'prod', 'records');

  it('opens what it sealed, and nothing that was altered or stands in another place', () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(bytes, fc.string(), fc.nat(), (plain, place, at) => {
        const sealed = seal.seal(Buffer.from(plain), place);
        expect([...seal.open(sealed, place)]).to.deep.equal([...plain]);
        expect(() => seal.open(sealed, `${place}.`)).to.throw(SealError);
        const altered = Buffer.from(sealed);
        const index = at % altered.length;
        altered[index] = (altered[index] ?? 0) ^ 1;
        expect(() => seal.open(altered, place)).to.throw(SealError);
        expect(() => seal.open(sealed.subarray(0, at % sealed.length), place)).to.throw(SealError);
      }),
    );
  });

  it('has a key of its own for each cluster, key and purpose', () => {
    const sealed = seal.seal(Buffer.from('x'), 'place');
    for (const other of [
      new Seal('b'.repeat(32), 'prod', 'records'),
      new Seal(KEY, 'test', 'records'),
      new Seal(KEY, 'prod', 'asks'),
    ]) {
      expect(() => other.open(sealed, 'place')).to.throw(SealError, 'another key');
    }
    expect(new Seal(KEY, 'prod', 'records').open(sealed, 'place').toString()).to.equal('x');
  });
});
