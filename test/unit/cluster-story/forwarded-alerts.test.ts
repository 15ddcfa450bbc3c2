import { expect } from 'chai';
import { ForwardedAlerts } from '../../cluster-story/forwarded-alerts.js';

describe('alerts that a cluster handed on', () => {
  const known = new Set(['a', 'b', 'c']);

  it('are all there, and again for each end of who hands on', () => {
    const forwarded = new ForwardedAlerts([['a', 'b'], ['a', 'b', 'c'], []]);
    expect(forwarded.breaches(['a', 'b', 'c'], known, 1)).to.deep.equal([]);
    expect(forwarded.counts()).to.deep.equal({ alerts: 3, again: 2, repeated: 1 });
  });

  it('are missed, and found when nobody wrote them or they came too often', () => {
    const forwarded = new ForwardedAlerts([['a'], ['a', 'b', 'b'], ['a', 'x']]);
    expect(forwarded.breaches(['a', 'c'], known, 1)).to.deep.equal([
      'an alert was not handed on: c',
      'an alert was handed on that nobody wrote: x',
      'one delivery has an alert twice: a',
      '2 deliveries came again, with 1 ends of who hands on',
    ]);
  });

  it('come again in one message at most', () => {
    const many = Array.from({ length: 201 }, (_, at) => `alert ${at}`);
    expect(new ForwardedAlerts([many, many]).breaches(many, new Set(many), 1)).to.deep.equal([
      '201 alerts of one delivery came again',
    ]);
  });
});
