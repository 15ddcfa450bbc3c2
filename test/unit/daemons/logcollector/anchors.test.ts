import { expect } from 'chai';
import fc from 'fast-check';
import { type Anchor, thinAnchors } from '../../../../daemons/logcollector/anchors.js';

describe('anchors of a followed file', () => {
  it('are few, and have one at every scale of distance, however fast the file grows', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 300 }), (steps) => {
        let anchors: Anchor[] = [];
        let offset = 0;
        const saved: number[] = [];
        for (const step of steps) {
          saved.push(offset);
          anchors = [...anchors, { offset: String(offset), tail: '' }];
          offset += step;
          anchors = thinAnchors(anchors, offset);
        }
        expect(anchors.length).to.be.lessThan(33);
        const kept = anchors.map((anchor) => Number(anchor.offset));
        expect(kept).to.deep.equal([...kept].sort((a, b) => a - b));
        expect(kept.at(-1)).to.equal(saved.at(-1));
        expect(kept[0]).to.equal(0);
      }),
      { numRuns: 100 },
    );
  });

  it('are not beyond the position', () => {
    const anchors = [4, 8, 12].map((offset) => ({ offset: String(offset), tail: '' }));
    expect(thinAnchors(anchors, 8)).to.deep.equal(anchors.slice(0, 1));
  });
});
