import { expect } from 'chai';
import { ReturningAgents } from '../../../../daemons/authd/returning-agents.js';

const MINUTE = 60_000;

describe('ReturningAgents', () => {
  it('tells of an agent once, as long as it keeps coming', () => {
    let now = 0;
    const agents = new ReturningAgents(() => now);
    const told: number[] = [];
    for (let visit = 1; visit <= 600; visit += 1, now += MINUTE / 10) if (agents.returned('001')) told.push(visit);
    expect(told).to.deep.equal([3]);
    expect([agents.isTold('001'), agents.has('001'), agents.has('002')]).to.deep.equal([true, true, false]);
    now += 60 * MINUTE;
    expect([agents.isTold('001'), agents.has('001')]).to.deep.equal([false, false]);
    expect([1, 2, 3].map(() => agents.returned('001'))).to.deep.equal([false, false, true]);
    agents.forget('001');
    expect(agents.has('001')).to.equal(false);
  });

  it('remembers so many, and forgets the one that was away the longest', () => {
    const agents = new ReturningAgents(() => 0);
    for (let id = 0; id <= 10_000; id += 1) agents.returned(String(id));
    expect([agents.has('0'), agents.has('1'), agents.has('10000')]).to.deep.equal([false, true, true]);
  });
});
