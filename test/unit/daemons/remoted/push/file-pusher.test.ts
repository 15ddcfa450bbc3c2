import { expect } from 'chai';
import { linkOf } from '../../../../../daemons/remoted/agent-link.js';
import { PushContent } from '../../../../../daemons/remoted/push/push-content.js';
import { STALL_MS } from '../../../../../daemons/remoted/push/push-limits.js';
import { ACK_MESSAGE } from '../../../../../lib/agentlink/control-text.js';
import { pushMessages } from '../../../../support/agentlink/push-messages.js';
import { PushKit } from '../../../../support/remoted/push-kit.js';

const file = (bytes: number, text = 'line of a file\n'): Buffer =>
  Buffer.from(text.repeat(Math.ceil(bytes / text.length))).subarray(0, bytes);
const WARNING = (id: string) => `warn: (1246): Unable to send file 'merged.mg' to agent ID '${id}'.`;

describe('pushing files', () => {
  for (const bytes of [0, 899, 900, 901, 200_000]) {
    it(`sends a file of ${String(bytes)} bytes in the order of the protocol`, async () => {
      const content = file(bytes);
      const kit = new PushKit(new PushContent(content));
      const route = kit.connect();
      kit.pusher.offer(kit.agent());
      await kit.clock.settle();
      const expected = [...pushMessages(content)];
      // So that the agent hears of its manager while it reads a large file.
      for (let at = 128; at < expected.length; at += 129) expected.splice(at, 0, Buffer.from(ACK_MESSAGE));
      expect(route.payloads(kit.agent()).map(String)).to.deep.equal(expected.map(String));
      expect(kit.counters.pushes).to.deep.equal({ started: 1, finished: 1, failed: 0 });
      expect(kit.counters.sent.shared + kit.counters.sent.ack).to.equal(expected.length);
      expect(kit.counters.sent.ack).to.equal(bytes === 200_000 ? 1 : 0);
      expect(kit.pusher.running).to.equal(0);
    });
  }

  it('sends to each agent once, so many at a time, in the order they came', async () => {
    const kit = new PushKit(new PushContent(file(50_000)), { agents: 5, atOnce: 2 });
    const routes = kit.agents.map((_agent, index) => kit.connect(index));
    for (const route of routes) route.reading = false;
    for (const agent of [...kit.agents, ...kit.agents]) kit.pusher.offer(agent);
    await kit.clock.settle();
    expect([kit.pusher.running, kit.pusher.queued]).to.deep.equal([2, 3]);
    expect(routes.map(({ sent }) => sent.length)).to.deep.equal([1, 1, 0, 0, 0]);
    routes[0]?.read();
    await kit.clock.settle();
    expect(routes.map(({ sent }) => sent.length)).to.deep.equal([2, 1, 1, 0, 0]);
    for (const route of routes) route.read();
    await kit.clock.settle();
    expect(kit.counters.pushes).to.deep.equal({ started: 5, finished: 5, failed: 0 });
    for (const [index, route] of routes.entries()) {
      expect(route.payloads(kit.agent(index)).length).to.equal(58);
    }
  });

  it('seals nothing for an agent that does not read, and gives its place to others', async () => {
    const kit = new PushKit(new PushContent(file(100_000)), { agents: 3, atOnce: 1 });
    const routes = kit.agents.map((_agent, index) => kit.connect(index));
    if (routes[0] !== undefined) routes[0].reading = false;
    for (const agent of kit.agents) kit.pusher.offer(agent);
    await kit.clock.settle();
    expect(routes.map(({ sent }) => sent.length)).to.deep.equal([1, 0, 0]);
    await kit.clock.pass(2000);
    expect(kit.counters.pushes).to.include({ started: 3, finished: 2 });
    expect(kit.pusher.parked).to.equal(1);
    // It reads again, and gets the rest.
    routes[0]?.read();
    await kit.clock.settle();
    expect(kit.counters.pushes).to.include({ finished: 3, failed: 0 });
    expect([kit.pusher.parked, kit.pusher.running]).to.deep.equal([0, 0]);
    expect(routes[0]?.payloads(kit.agent()).at(-1)?.toString()).to.equal('#!-close file ');
  });

  it('gives up an agent that reads nothing for long, and says so', async () => {
    const kit = new PushKit(new PushContent(file(100_000)));
    kit.connect().reading = false;
    kit.pusher.offer(kit.agent());
    await kit.clock.pass(STALL_MS - 1000);
    expect(kit.logger.lines).to.deep.equal([]);
    await kit.clock.pass(2000);
    expect(kit.logger.lines).to.deep.equal([WARNING('001')]);
    expect(kit.counters.pushes.failed).to.equal(1);
    expect(kit.pusher.running).to.equal(0);
  });

  it('waits for room when other messages fill the way', async () => {
    const content = file(2000);
    const kit = new PushKit(new PushContent(content));
    const route = kit.connect();
    route.room = false;
    kit.pusher.offer(kit.agent());
    await kit.clock.pass(1000);
    expect(route.sent).to.deep.equal([]);
    route.room = true;
    await kit.clock.pass(1000);
    expect(Buffer.concat(route.payloads(kit.agent()).slice(1, -1)).equals(content)).to.equal(true);
  });

  it('ends with the connection, and pushes anew over the next one', async () => {
    const content = file(100_000);
    const kit = new PushKit(new PushContent(content));
    const first = kit.connect();
    first.reading = false;
    kit.pusher.offer(kit.agent());
    await kit.clock.settle();
    first.close();
    await kit.clock.settle();
    expect(kit.logger.lines).to.deep.equal([WARNING('001')]);
    const second = kit.connect();
    kit.pusher.offer(kit.agent());
    await kit.clock.settle();
    expect(Buffer.concat(second.payloads(kit.agent()).slice(1, -1)).equals(content)).to.equal(true);
    expect(first.sent.length).to.equal(1);
  });

  it('begins anew for an agent that has connected another way, or starts', async () => {
    const kit = new PushKit(new PushContent(file(100_000)));
    const first = kit.connect();
    first.reading = false;
    kit.pusher.offer(kit.agent());
    await kit.clock.settle();
    const second = kit.connect();
    second.reading = false;
    kit.pusher.offer(kit.agent());
    await kit.clock.settle();
    expect([first.sent.length, second.sent.length]).to.deep.equal([1, 1]);
    kit.pusher.abandon(kit.agent());
    second.read();
    await kit.clock.settle();
    expect(second.sent.length).to.equal(1);
    expect(kit.counters.pushes).to.deep.equal({ started: 2, finished: 0, failed: 2 });
  });

  it('drops agents that are gone, or have their file, when it is their turn', async () => {
    const kit = new PushKit(undefined, { agents: 3 });
    kit.connect();
    linkOf(kit.agent(1));
    for (const agent of kit.agents) kit.pusher.offer(agent);
    await kit.clock.settle();
    expect([kit.pusher.running, kit.pusher.queued]).to.deep.equal([0, 0]);
    expect(kit.counters.pushes.started).to.equal(0);
    expect(kit.logger.lines).to.deep.equal([]);
  });

  it('says that a file cannot be read', async () => {
    const kit = new PushKit(undefined);
    kit.connect();
    kit.contentFor = () => Promise.reject(new Error('disk on fire'));
    kit.pusher.offer(kit.agent());
    await kit.clock.settle();
    expect(kit.logger.lines).to.deep.equal(['error: A merged file cannot be read: disk on fire', WARNING('001')]);
    expect(kit.pusher.running).to.equal(0);
  });

  it('pauses over UDP after 31 pieces', async () => {
    const content = file(900 * 70);
    const kit = new PushKit(new PushContent(content));
    const route = kit.connect(0, true);
    kit.pusher.offer(kit.agent());
    await kit.clock.settle();
    expect(route.sent.length).to.equal(32);
    await kit.clock.pass(999);
    expect(route.sent.length).to.equal(32);
    // A datagram of the agent brings another way to it; what is under way goes on.
    const next = kit.connect(0, true);
    await kit.clock.pass(1);
    await kit.clock.settle();
    expect(next.sent.length).to.equal(31);
    await kit.clock.pass(1000);
    const payloads = [...route.payloads(kit.agent()), ...next.payloads(kit.agent())];
    expect(payloads.map(String)).to.deep.equal([...pushMessages(content)].map(String));
    expect(kit.counters.pushes.finished).to.equal(1);
  });

  it('keeps work for the end of a push, so much of it', async () => {
    const kit = new PushKit(new PushContent(file(100_000)));
    const route = kit.connect();
    route.reading = false;
    const done: string[] = [];
    expect(kit.pusher.afterwards(kit.agent(), () => done.push('at once'))).to.equal(true);
    kit.pusher.offer(kit.agent());
    await kit.clock.settle();
    const taken = Array.from({ length: 17 }, (_none, index) =>
      kit.pusher.afterwards(kit.agent(), () => done.push(String(index))),
    );
    expect(taken.filter(Boolean).length).to.equal(16);
    expect(done).to.deep.equal(['at once']);
    route.read();
    await kit.clock.settle();
    expect(done.slice(0, 3)).to.deep.equal(['at once', '0', '1']);
    expect(done.length).to.equal(17);
  });

  it('takes up another key and cipher in the middle', async () => {
    const content = file(100_000);
    const kit = new PushKit(new PushContent(content));
    const route = kit.connect();
    route.reading = false;
    const agent = kit.agent();
    kit.pusher.offer(agent);
    await kit.clock.settle();
    const before = route.payloads(agent).length;
    agent.form = 'blowfish';
    const rest = route.sent.length;
    route.read();
    await kit.clock.settle();
    route.sent.splice(0, rest);
    expect(route.payloads(agent).length + before).to.equal([...pushMessages(content)].length);
  });

  it('sends nothing after it was stopped', async () => {
    const kit = new PushKit(new PushContent(file(100_000)), { agents: 2, atOnce: 1 });
    const routes = kit.agents.map((_agent, index) => kit.connect(index));
    for (const route of routes) route.reading = false;
    for (const agent of kit.agents) kit.pusher.offer(agent);
    await kit.clock.settle();
    kit.pusher.stop();
    for (const route of routes) route.read();
    await kit.clock.pass(STALL_MS * 2);
    expect(routes.map(({ sent }) => sent.length)).to.deep.equal([1, 0]);
    expect(kit.logger.lines).to.deep.equal([]);
  });
});
