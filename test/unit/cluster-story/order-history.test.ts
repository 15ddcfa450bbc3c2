import { expect } from 'chai';
import { AgentRecord } from '../../cluster-story/agent-record.js';
import { OrderHistory } from '../../cluster-story/order-history.js';

describe('orders for agents of a cluster', () => {
  let time = 0;
  let agent: AgentRecord;
  let orders: OrderHistory;
  beforeEach(() => {
    time = 0;
    agent = new AgentRecord('001');
    orders = new OrderHistory(() => (time += 1));
    agent.connected(0);
  });
  const decided = (tokens: string[], ends = 0) =>
    orders.decided([agent], new Map([['n1', tokens]]), new Map([['n1', ends]]));
  const receive = (...tokens: string[]) => {
    for (const token of tokens) agent.received(token);
  };

  it('that clients asked for come once, and without a clear answer once at most', () => {
    const [done, maybe, never] = [orders.ask('001'), orders.ask('001'), orders.ask('001')];
    done.settle('done');
    never.settle('refused');
    receive(done.token, maybe.token);
    agent.proven(100);
    expect(orders.asked([agent])).to.deep.equal({ breaches: [], lost: 0, again: 0 });
    expect(orders.counts()).to.deep.equal({ done: 1, refused: 1, unknown: 1 });
  });

  it('that clients asked for are found twice, with another agent, and after a refusal', () => {
    const [done, refused, other] = [orders.ask('001'), orders.ask('001'), orders.ask('002')];
    done.settle('done');
    refused.settle('refused');
    receive('order-1', 'order-1', 'order-2', 'order-3');
    expect(orders.asked([agent]).breaches).to.deep.equal([
      'agent 001 got order-1 2 times',
      'order-2 was refused, and agent 001 got it',
      'agent 001 got order-3, which is for 002',
    ]);
    expect(other.token).to.equal('order-3');
  });

  it('that clients asked for may be lost where the connection broke, and nowhere else', () => {
    orders.ask('001').settle('done');
    agent.proven(1.5);
    agent.connected(1.8);
    agent.proven(100);
    expect(orders.asked([agent])).to.deep.equal({ breaches: [], lost: 1, again: 0 });
    orders.ask('001').settle('done');
    expect(orders.asked([agent]).breaches).to.deep.equal(['order-2 was acknowledged, and agent 001 did not get it']);
  });

  it('that were decided come once', () => {
    receive('a', 'b');
    expect(decided(['a', 'b'])).to.deep.equal({ breaches: [], lost: 0, again: 0 });
    expect(decided(['a', 'x', 'b', 'y']).breaches).to.deep.equal([
      'agent 001 did not get the order about event x',
      'agent 001 did not get the order about event y',
    ]);
  });

  it('that were decided may be lost between two connections', () => {
    receive('a', 'b');
    agent.connected(10);
    receive('d');
    expect(decided(['a', 'b', 'c', 'd'])).to.deep.equal({ breaches: [], lost: 1, again: 0 });
    expect(decided(['a', 'c', 'b', 'd']).breaches).to.have.lengthOf(1);
  });

  it('that were decided may come again to an agent that moved, or once for each end of svc-execd', () => {
    receive('a', 'b');
    agent.connected(10);
    receive('b');
    expect(decided(['a', 'b'])).to.deep.equal({ breaches: [], lost: 0, again: 1 });
    receive('c', 'c');
    expect(decided(['a', 'b', 'c']).breaches).to.deep.equal(['agent 001 got the order about event c 2 times']);
    expect(decided(['a', 'b', 'c'], 1)).to.deep.equal({ breaches: [], lost: 0, again: 2 });
  });
});
