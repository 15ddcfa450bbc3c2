import { expect } from 'chai';
import { AccessGuards } from '../../../../api/http/access-guards.js';

const SETTINGS = { maxRequestsPerMinute: 100, maxLoginAttempts: 3, blockSeconds: 300 };
const ADDRESS = '192.0.2.1';

describe('AccessGuards', () => {
  let now: number;
  let guards: AccessGuards;

  beforeEach(() => {
    now = 1_000_000;
    guards = new AccessGuards(SETTINGS, () => now);
  });

  const admitted = (limit: { admit(): boolean }) => {
    let count = 0;
    while (count < 1000 && limit.admit()) count += 1;
    return count;
  };
  const numbers = () => [
    admitted(guards.general),
    admitted(guards.events),
    admitted(guards.anonymous.of(ADDRESS)),
    admitted(guards.logins.of(ADDRESS)),
  ];

  it('have the general limit everywhere but for events, where thirty are the most', () => {
    expect(numbers()).to.deep.equal([100, 30, 100, 100]);
    guards = new AccessGuards({ ...SETTINGS, maxRequestsPerMinute: 7 }, () => now);
    expect(numbers()).to.deep.equal([7, 7, 7, 7]);
  });

  it('count anew when the limit changes', () => {
    expect(numbers()).to.deep.equal([100, 30, 100, 100]);
    guards.update({ ...SETTINGS, maxRequestsPerMinute: 20 });
    expect(numbers()).to.deep.equal([20, 20, 20, 20]);
    guards.update({ ...SETTINGS, maxRequestsPerMinute: 50 });
    expect(numbers()).to.deep.equal([50, 30, 50, 50]);
  });

  it('go on counting, and blocking, when something else changes', () => {
    expect(numbers()).to.deep.equal([100, 30, 100, 100]);
    for (let failure = 0; failure < 3; failure += 1) guards.addresses.recordFailure(ADDRESS);
    guards.update({ ...SETTINGS });
    expect(guards.addresses.isBlocked(ADDRESS)).to.equal(true);
    expect(numbers()).to.deep.equal([0, 0, 0, 0]);
    guards.update({ ...SETTINGS, maxRequestsPerMinute: 20 });
    expect(guards.addresses.isBlocked(ADDRESS), 'blocks are another matter').to.equal(true);
  });

  for (const [what, more] of [
    ['attempts', { maxLoginAttempts: 2 }],
    ['seconds', { blockSeconds: 10 }],
  ] as const) {
    it(`forget blocks when the ${what} of a block change`, () => {
      expect(numbers()).to.deep.equal([100, 30, 100, 100]);
      for (let failure = 0; failure < 3; failure += 1) guards.addresses.recordFailure(ADDRESS);
      guards.update({ ...SETTINGS, ...more });
      expect(guards.addresses.isBlocked(ADDRESS)).to.equal(false);
      expect(numbers(), 'requests are another matter').to.deep.equal([0, 0, 0, 0]);
      for (let failure = 0; failure < (what === 'attempts' ? 2 : 3); failure += 1) {
        guards.addresses.recordFailure(ADDRESS);
      }
      expect(guards.addresses.isBlocked(ADDRESS)).to.equal(true);
      now += 10_000;
      expect(guards.addresses.isBlocked(ADDRESS)).to.equal(what === 'attempts');
      // A second time with the same settings changes nothing.
      guards.addresses.recordFailure('192.0.2.9');
      guards.addresses.recordFailure('192.0.2.9');
      guards.update({ ...SETTINGS, ...more });
      guards.addresses.recordFailure('192.0.2.9');
      expect(guards.addresses.isBlocked('192.0.2.9')).to.equal(true);
    });
  }
});
