import { expect } from 'chai';
import { type Agent, linkOf, type Route } from '../../../../daemons/remoted/agent-link.js';
import { ControlMessages } from '../../../../daemons/remoted/control-messages.js';
import { PushKit } from '../../../support/remoted/push-kit.js';

describe('control messages of agents, at svc-remoted', () => {
  it('keep the checksum that is known as long as an agent writes its file', () => {
    const kit = new PushKit(undefined);
    const agent: Agent = kit.agent();
    let isWhole = true;
    const control = new ControlMessages({
      sender: { answer: () => true } as never,
      status: { put: () => {} },
      requests: { answer: () => false },
      configuration: { startup: () => {}, keepalive: () => {}, isWhole: () => isWhole },
      counters: kit.counters,
      log: {} as never,
      manager: { host: 'manager', node: 'node01' },
      allowHigherVersions: () => false,
    });
    const route: Route = kit.connect();
    const keepalive = (sum: string) => {
      control.take(agent, Buffer.from(`#!-Linux box - OSSEC HIDS v4.2.0\n${sum} merged.mg\n`), route, 1);
      return linkOf(agent).report;
    };
    expect(keepalive('a'.repeat(32))).to.include({ mergedSum: 'a'.repeat(32) });
    isWhole = false;
    // The table has not got the one before yet.
    expect(keepalive('b'.repeat(32))).to.include({ mergedSum: 'a'.repeat(32), version: 'OSSEC HIDS v4.2.0' });
    expect(linkOf(agent).mergedSum, 'for the comparison').to.equal('b'.repeat(32));
    linkOf(agent).report = undefined;
    expect(keepalive('b'.repeat(32))).not.to.have.property('mergedSum');
    // The same words, when they are true.
    isWhole = true;
    expect(keepalive('b'.repeat(32))).to.include({ mergedSum: 'b'.repeat(32) });
  });
});
