import { expect } from 'chai';
import { MemoryStreamPositions } from '../../../../lib/bus/stream-positions.js';

describe('MemoryStreamPositions', () => {
  it('forgets the stream that was not moved for the longest time', () => {
    const positions = new MemoryStreamPositions(2);
    positions.set('a', 1);
    positions.set('b', 2);
    positions.set('a', 3);
    positions.set('c', 4);
    expect([...positions.entries()]).to.deep.equal([
      ['a', 3],
      ['c', 4],
    ]);
    expect(positions.get('b')).to.equal(undefined);
    expect(positions.size).to.equal(2);
  });
});
