import { expect } from 'chai';
import { EpsLimiter } from '../../../../daemons/analysisd/eps-limiter.js';

const NOW = 1_800_000_000;

describe('EPS limiter', () => {
  const taken = (limiter: EpsLimiter, now: number): number => {
    let count = 0;
    while (limiter.take(now)) count += 1;
    return count;
  };

  it('gives the credits of a window, and each second those back that left it', () => {
    const limiter = new EpsLimiter(10, 3, NOW);
    expect(taken(limiter, NOW)).to.equal(30);
    expect([taken(limiter, NOW + 1), taken(limiter, NOW + 2), taken(limiter, NOW + 3)]).to.deep.equal([0, 0, 30]);
    expect(limiter.secondsOverLimit).to.equal(3);
  });

  it('does not wait for a clock that was set back', () => {
    const limiter = new EpsLimiter(10, 3, NOW);
    expect(taken(limiter, NOW)).to.equal(30);
    expect(taken(limiter, NOW - 3600)).to.equal(30);
    expect(taken(limiter, NOW - 3599)).to.equal(0);
    expect(taken(limiter, NOW - 3597)).to.equal(30);
  });
});
