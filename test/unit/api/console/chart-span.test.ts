import { expect } from 'chai';
import { bucketSpan } from '../../../../api/console/browser/parts/chart-span.js';

describe('the axis of a chart of buckets', () => {
  it('ends where the last bucket ends', () => {
    expect(bucketSpan([100, 160, 220])).to.deep.equal([100, 280]);
  });

  it('has a length with one bucket, and with none', () => {
    expect(bucketSpan([100])).to.deep.equal([100, 3700]);
    expect(bucketSpan([])).to.deep.equal([0, 3600]);
  });
});
