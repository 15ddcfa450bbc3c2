import { expect } from 'chai';
import { DiskQuota } from '../../../../../daemons/syscheckd/diff/disk-quota.js';

const MEGABYTE = 1024 * 1024;

describe('quota of copies', () => {
  it('takes a tenth of a content for its copy at first', () => {
    expect(new DiskQuota().estimate(1000)).to.be.closeTo(100, 0.001);
  });

  it('learns from what packing came to, never below forty per cent', () => {
    const quota = new DiskQuota();
    quota.learn(9 * MEGABYTE, 4.4 * MEGABYTE);
    expect(quota.estimate(1000)).to.be.closeTo(450, 1);
    quota.learn(1000 * MEGABYTE, 1000 * MEGABYTE);
    expect(quota.estimate(1000)).to.be.closeTo(600, 0.001);
  });

  it('counts copies that are there and those that wait', () => {
    const quota = new DiskQuota();
    quota.measured(100);
    quota.reserve(20);
    quota.changed(-30);
    expect(quota.used).to.equal(90);
    quota.reserve(-20);
    quota.changed(-500);
    expect(quota.used).to.equal(0);
  });
});
