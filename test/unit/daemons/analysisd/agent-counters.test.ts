import { expect } from 'chai';
import { AgentCounters } from '../../../../daemons/analysisd/agent-counters.js';

describe('AgentCounters', () => {
  it('counts by agent, and has zeros for those it never heard of', () => {
    const counters = new AgentCounters();
    counters.of('001').processed += 2;
    counters.of('001').alerts += 1;
    counters.of('002').dropped += 1;
    const written = { alerts: 0, archives: 0, firewall: 0 };
    expect(counters.metrics('001')).to.deep.equal({
      events: { received: 0, processed: 2, dropped: 0, written_breakdown: { ...written, alerts: 1 } },
    });
    expect(counters.metrics('002')).to.have.nested.property('events.dropped', 1);
    expect(counters.metrics('003')).to.deep.equal({
      events: { received: 0, processed: 0, dropped: 0, written_breakdown: written },
    });
  });

  it('forgets those it counted first when there are too many', () => {
    const counters = new AgentCounters(2);
    for (const id of ['001', '002', '003']) counters.of(id).processed += 1;
    counters.of('002').processed += 1;
    const processed = ['001', '002', '003'].map((id) => counters.metrics(id));
    expect(processed[0]).to.have.nested.property('events.processed', 0);
    expect(processed[1]).to.have.nested.property('events.processed', 2);
    expect(processed[2]).to.have.nested.property('events.processed', 1);
  });
});
