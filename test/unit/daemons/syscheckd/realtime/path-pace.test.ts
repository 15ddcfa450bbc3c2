import { expect } from 'chai';
import { PathPace } from '../../../../../daemons/syscheckd/realtime/path-pace.js';

describe('pace of a path', () => {
  it('lets twenty looks pass, then ten a second, for each path by itself', () => {
    const pace = new PathPace();
    for (let at = 0; at < 20; at += 1) {
      expect(pace.wait('/log', 1000)).to.equal(0);
      pace.looked('/log', 1000);
    }
    expect(pace.wait('/log', 1000)).to.equal(100);
    expect(pace.wait('/other', 1000)).to.equal(0);
    expect(pace.wait('/log', 1050)).to.be.closeTo(50, 1e-6);
    expect(pace.wait('/log', 1100)).to.equal(0);
    pace.looked('/log', 1100);
    expect(pace.wait('/log', 1100)).to.be.closeTo(100, 1e-6);
    expect(pace.wait('/log', 5000)).to.equal(0);
  });

  it('forgets paths that are looked at no more', () => {
    const pace = new PathPace();
    for (let at = 0; at < 5000; at += 1) pace.looked(`/${at}`, at);
    expect(pace.size).to.be.below(2300);
    pace.looked('/last', 100_000);
    expect(pace.size).to.equal(1);
  });
});
