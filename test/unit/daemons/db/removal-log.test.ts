import { expect } from 'chai';
import { RemovalLog } from '../../../../daemons/db/removal-log.js';

describe('the log of removed agents', () => {
  const ids = (log: RemovalLog): number[] => log.after(0, 100).map(({ id }) => id);

  it('has room for so many, whoever asks: the oldest go, and are counted', () => {
    const log = new RemovalLog(() => 1, 3);
    const crowdedOut: (number | undefined)[] = [];
    const remove = (...agents: number[]): void => {
      // As one transaction does it.
      const removals = agents.map((id, index) => {
        crowdedOut.push(log.crowdedOutBy(index)?.id);
        return log.next(id);
      });
      log.committed(removals);
    };
    remove(1, 2);
    remove(3);
    expect([ids(log), log.crowdedOut]).to.deep.equal([[1, 2, 3], 0]);
    remove(4, 5);
    expect([ids(log), log.crowdedOut]).to.deep.equal([[3, 4, 5], 2]);
    expect(crowdedOut).to.deep.equal([undefined, undefined, undefined, 1, 2]);
  });

  it('never uses a number twice, also when the clock goes back', () => {
    let now = 5;
    const log = new RemovalLog(() => now);
    const first = log.next(1).sequence;
    now = 4;
    expect(log.next(1).sequence).to.equal(first + 1);
  });
});
