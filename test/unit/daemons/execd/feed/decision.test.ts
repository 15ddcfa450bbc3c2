import { expect } from 'chai';
import { decidedAt, parseDecision, routeOf } from '../../../../../daemons/execd/feed/decision.js';

describe('a decision about an active response', () => {
  const line = (more: object = {}): string =>
    JSON.stringify({
      response: 'block60',
      command: 'block',
      timeout: 60,
      locations: ['local'],
      agents: ['007'],
      extra_args: [],
      rule: '5712',
      alert: { timestamp: '2025-03-04T10:15:30.250+0130', data: { srcip: '203.0.113.9' } },
      ...more,
    });
  const route = (more: object) => routeOf(parseDecision(line(more)));

  it('is for this host, for agents, or for all', () => {
    expect(route({})).to.deep.equal({ agents: ['007'], all: false });
    expect(route({ agents: ['000'] })).to.equal('here');
    expect(route({ locations: ['defined-agent'], agents: ['001', '002'] })).to.deep.equal({
      agents: ['001', '002'],
      all: false,
    });
    expect(route({ locations: ['all'], agents: [] })).to.deep.equal({ agents: [], all: true });
  });

  it('is for this host alone when the server is among its locations', () => {
    expect(route({ locations: ['server'], agents: [] })).to.equal('here');
    expect(route({ locations: ['server', 'local', 'all'] })).to.equal('here');
    expect(route({ locations: ['local', 'all'], agents: ['000'] })).to.equal('here');
  });

  it('is as old as its alert', () => {
    expect(decidedAt(parseDecision(line()))).to.equal(Date.UTC(2025, 2, 4, 8, 45, 30, 250));
    expect(decidedAt(parseDecision(line({ alert: {} })))).to.equal(undefined);
    expect(decidedAt(parseDecision(line({ alert: { timestamp: 'now' } })))).to.equal(undefined);
  });

  it('is refused when it is not what svc-analysisd writes', () => {
    for (const bad of [
      '',
      '[]',
      '{}',
      line({ agents: ['../x'] }),
      line({ locations: ['moon'] }),
      line({ timeout: -1 }),
    ]) {
      expect(() => parseDecision(bad), bad).to.throw();
    }
  });
});
