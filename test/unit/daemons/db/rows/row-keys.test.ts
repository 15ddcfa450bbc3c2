import { expect } from 'chai';
import { behindPrefix } from '../../../../../daemons/db/rows/row-keys.js';

describe('the end of a range of keys', () => {
  it('is behind all keys with the same beginning, and not behind others', () => {
    for (const [prefix, behind] of [
      [
        [0, 0, 0, 7],
        [0, 0, 0, 8],
      ],
      [
        [0, 0, 0, 0xff, 0xff],
        [0, 0, 1],
      ],
      [
        [0, 0xff, 0, 0xff],
        [0, 0xff, 1],
      ],
    ] as const) {
      const end = behindPrefix(Buffer.from(prefix));
      expect([...end]).to.deep.equal(behind);
      expect(Buffer.from([...prefix, 0xff, 0xff, 0xff]).compare(end)).to.equal(-1);
    }
  });
});
