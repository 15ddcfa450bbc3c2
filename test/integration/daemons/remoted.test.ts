import { expect } from 'chai';
import { AGENT_CONNECTIONS } from '../../../daemons/remoted/remoted-limits.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { ConnectionFlood } from '../../support/remoted/connection-flood.js';
import { identity, KeepingSink, RemotedHome } from '../../support/remoted/remoted-home.js';

const IDLE_CONNECTIONS = 1100;
const FIRST_KEYS = 20;

/** What svc-remoted says of an agent; what is not named is 0. */
function countedMessages(control: Record<string, number>, sent: Record<string, number>): Record<string, unknown> {
  const total = Object.values(control).reduce((sum, count) => sum + count, 0);
  return {
    messages: {
      received_breakdown: {
        control: total,
        control_breakdown: { keepalive: 0, request: 0, shutdown: 0, startup: 0, ...control },
        event: 0,
      },
      sent_breakdown: { ack: 0, ar: 0, request: 0, sca: 0, shared: 0, discarded: 0, ...sent },
    },
  };
}

describe('svc-remoted', function () {
  this.timeout(60_000);
  const home = new RemotedHome({
    remote: '<protocol>tcp,udp</protocol><connection_overtake_time>1</connection_overtake_time>',
  });
  const sink = new KeepingSink(home);
  const client = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
  const agents: MinimalAgent[] = [];
  const keys = Array.from({ length: FIRST_KEYS }, (_, index) => identity(index + 1));
  keys[18] = identity(19, '127.0.0.1');
  let daemon: RunningDaemon;
  let port: number;

  before(async () => {
    home.keys(...keys);
    await sink.start();
    daemon = await RunningDaemon.start('svc-remoted', home);
    port = daemon.port('agents_tcp');
  });
  afterEach(() => {
    for (const agent of agents.splice(0)) agent.close();
  });
  after(async () => {
    client.close();
    await daemon.stop('SIGKILL');
    await sink.stop();
    home.remove();
  });

  async function agentOf(number: number, form: 'aes' | 'aes-iv' | 'blowfish' = 'aes'): Promise<MinimalAgent> {
    const agent = new MinimalAgent(keys[number - 1] ?? identity(number), form);
    agents.push(agent);
    await agent.connect(port);
    return agent;
  }

  async function udpAgent(number: number): Promise<MinimalAgent> {
    const agent = new MinimalAgent(keys[number - 1] ?? identity(number));
    agents.push(agent);
    await agent.connectUdp(daemon.port('agents_udp'));
    return agent;
  }

  const logged = (text: string) => eventually(`the log says '${text}'`, () => daemon.output.includes(text));
  const texts = (id: string, count: number) =>
    eventually(`${String(count)} events of ${id}`, () => sink.texts(id).length >= count && sink.texts(id));

  for (const form of ['aes', 'aes-iv', 'blowfish'] as const) {
    it(`acknowledges startup and keepalives and passes events on, ${form}`, async () => {
      const number = ['aes', 'aes-iv', 'blowfish'].indexOf(form) + 1;
      const agent = await agentOf(number, form);
      await agent.start();
      expect(agent.received).to.deep.equal(['agent ack ']);
      agent.event('wazuh-agent', `ossec: Agent started: '${agent.key.name}->any'.`);
      agent.keepalive([
        { key: 'site', value: 'north' },
        { key: 'rack', value: '7', hidden: true },
        { key: '_own', value: 'system' },
      ]);
      await agent.until('the second ACK', () => agent.acks === 2);
      const sentAt = Date.now();
      agent.event('/var/log/a:b|c.log', 'Dec 25 20:45:02 box sshd[1]: hello');
      agent.event('keepalive', '--MARK--');
      agent.event('/var/log/last.log', 'last');
      await texts(agent.key.id, 3);
      const [started, first, last] = sink.events.filter((event) => event.agent?.id === agent.key.id);
      expect(started?.agent).to.deep.equal({ id: agent.key.id, name: agent.key.name, ip: 'any', labels: undefined });
      expect(started).to.include({ queue: '1', location: 'wazuh-agent' });
      expect(first).to.include({ queue: '1', location: '/var/log/a:b|c.log' });
      expect(first?.message.toString()).to.equal('Dec 25 20:45:02 box sshd[1]: hello');
      expect(first?.receivedAt).to.be.within(sentAt, Date.now());
      expect([...(first?.agent?.labels ?? [])]).to.deep.equal([
        ['site', 'north'],
        ['!rack', '7'],
        ['_agent_ip', '127.0.0.1'],
      ]);
      expect(last?.location).to.equal('/var/log/last.log');
      agent.shutdown();
      const [, , , stopped] = await texts(agent.key.id, 4);
      expect(stopped).to.equal(`ossec: Agent stopped: '${agent.key.name}->any'.`);
      expect(sink.events.at(-1)?.location).to.equal('wazuh-remoted');
      expect(agent.acks).to.equal(2);
    });
  }

  it('serves UDP and TCP at once, answers probes, and knows an agent by its address', async () => {
    const agent = await udpAgent(4);
    await agent.start();
    agent.keepalive();
    await agent.until('the second ACK', () => agent.acks === 2);
    agent.event('/var/log/u.log', 'by datagram');
    await texts('004', 1);
    agent.write(Buffer.from('#ping'));
    await agent.until('the pong', () => agent.received.includes('#pong'));
    const other = await agentOf(5);
    other.write(Buffer.concat([Buffer.from([5, 0, 0, 0]), Buffer.from('#ping')]));
    await other.until('the pong', () => other.received.includes('#pong'));
    const fixed = await agentOf(19);
    expect(fixed.seal('x').toString('latin1', 4, 5)).to.equal('#');
    await fixed.start();
    expect(fixed.acks).to.equal(1);
  });

  it('closes what it cannot read, and nobody else notices', async () => {
    const good = await agentOf(6);
    await good.start();
    const wrong = new MinimalAgent({ ...identity(7), key: 'another key of the same length' });
    agents.push(wrong);
    await wrong.connect(port);
    wrong.event('/x', 'never');
    await wrong.until('the end', () => wrong.closed);
    await logged("(1404): Authentication error. Wrong key or corrupt payload. Message received from agent '007'");
    const unknown = new MinimalAgent(identity(4000));
    agents.push(unknown);
    await unknown.connect(port);
    unknown.event('/x', 'never');
    await unknown.until('the end', () => unknown.closed);
    await logged("(1408): Invalid ID 4000 for the source ip: '127.0.0.1' (name 'unknown').");
    const large = await agentOf(7);
    large.write(Buffer.from([1, 0, 1, 0]));
    await large.until('the end', () => large.closed);
    await logged("Too big message size from '127.0.0.1' (65537 bytes).");
    const torn = await agentOf(7);
    torn.write(torn.seal('1:/x:half').subarray(0, 40));
    torn.close();
    const noise = await agentOf(7);
    noise.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    await noise.until('the end', () => noise.closed);
    expect(sink.texts('007')).to.deep.equal([]);
    good.keepalive();
    await good.until('the next ACK', () => good.acks === 2);
    expect(good.closed).to.equal(false);
  });

  it('takes a replayed message, as the protocol has it, and frames in any parts', async () => {
    const agent = await agentOf(8);
    const message = agent.seal('1:/x:one');
    agent.write(Buffer.concat([message, message, agent.seal('1:/x:two')]));
    for (const byte of agent.seal('1:/x:three')) {
      agent.write(Buffer.of(byte));
    }
    expect(await texts('008', 4)).to.deep.equal(['one', 'one', 'two', 'three']);
  });

  it('refuses a second connection of an agent until the first has been quiet', async () => {
    const first = await agentOf(9);
    await first.start();
    const second = await agentOf(9);
    second.event('/x', 'too early');
    await second.until('the end', () => second.closed);
    await logged("Agent key already in use: agent ID '009'");
    expect(first.closed).to.equal(false);
    const third = new MinimalAgent(identity(9));
    agents.push(third);
    await eventually('it is overtaken', async () => {
      await third.connect(port);
      third.event('/x', 'late enough');
      await third.until('an end or an event', () => third.closed || sink.texts('009').length > 0);
      return !third.closed;
    });
    await first.until('the end', () => first.closed);
    await third.start();
    expect(sink.texts('009')).to.deep.equal(['late enough']);
  });

  it('lets an agent in that stops and connects again at once', async () => {
    const agent = await agentOf(16);
    for (let starts = 1; starts <= 20; starts += 1) {
      await agent.start();
      expect(agent.acks).to.equal(starts);
      agent.shutdown();
      agent.close();
      await agent.connect(port);
    }
  });

  it('knows a key by itself, and lets go of one that is removed', async () => {
    const late = new MinimalAgent(identity(300));
    agents.push(late);
    home.keys(...keys, identity(300));
    await eventually('the key is known', async () => {
      await late.connect(port);
      late.keepalive();
      await late.until('an answer', () => late.closed || late.acks > 0);
      return late.acks > 0;
    });
    const stays = await agentOf(10);
    await stays.start();
    home.keys(...keys);
    expect(await client.call('keys.reload', {})).to.deep.equal({ agents: FIRST_KEYS });
    await late.until('the end', () => late.closed);
    stays.keepalive();
    await stays.until('the next ACK', () => stays.acks === 2);
  });

  it('refuses agents of a higher version, and takes old ones', async () => {
    const agent = await agentOf(11);
    await agent.start('v4.15.0');
    expect(agent.received).to.deep.equal(['err {"message":"Agent version must be lower or equal to manager version"}']);
    await agent.start('v4.14.99');
    expect(agent.acks).to.equal(1);
    agent.send('#!-agent startup ');
    await agent.until('the ACK', () => agent.acks === 2);
    agent.send('#!-agent startup {"version":1}');
    await agent.until('the refusal', () => agent.received.at(-1)?.includes("Couldn't retrieve version") === true);
    agent.send('#!-nothing known');
    await logged("Invalid message from agent: 'box011' (011)");
  });

  it('carries requests to agents, their answers, and control messages', async () => {
    const agent = await agentOf(12);
    agent.onRequest = (target, payload) => `ok {"${target}":"${payload}"}`;
    await agent.start();
    const ask = { id: '012', target: 'agent', payload: 'getstate' };
    expect(await client.call('agents.request', ask)).to.deep.equal({ answer: 'ok {"agent":"getstate"}' });
    const failure = (id: string, deadlineMs = 5000) =>
      client.call('agents.request', { ...ask, id, deadlineMs }).then(
        () => 'answered',
        (error: unknown) => (error instanceof BusError ? error.code : String(error)),
      );
    expect(await failure('555')).to.equal('unknown_agent');
    expect(await failure('013')).to.equal('disconnected');
    agent.onRequest = undefined;
    expect(await failure('012', 50)).to.equal('timeout');
    const sent = await client.call('agents.send', { ids: ['012', '013', '555'], message: 'force_reconnect' });
    expect(sent.sent).to.equal(1);
    expect(sent.failed.map(({ id, code }) => [id, code])).to.deep.equal([
      ['013', 'disconnected'],
      ['555', 'unknown_agent'],
    ]);
    await agent.until('the message', () => agent.received.includes('force_reconnect'));
    const counted = await client.call('statistics.agents', { ids: ['012', '555'] });
    expect(counted.uptime).to.be.at.most(counted.timestamp);
    expect(counted.agents).to.deep.equal([
      { id: '012', metrics: countedMessages({ startup: 1, request: 1 }, { ack: 1, ar: 1, request: 2 }) },
      { id: '555', metrics: countedMessages({}, {}) },
    ]);
    const datagrams = await udpAgent(14);
    datagrams.onRequest = () => 'ok {}';
    await datagrams.start();
    expect(await client.call('agents.request', { ...ask, id: '014' })).to.deep.equal({ answer: 'ok {}' });
    await datagrams.until('the answer was taken', () => datagrams.received.some((text) => /^req \w+ ack$/.test(text)));
  });

  it('serves agents under a flood of idle connections, those of its address, too', async () => {
    const flood = new ConnectionFlood();
    try {
      const early = await agentOf(14);
      await early.start();
      await flood.open(port, IDLE_CONNECTIONS);
      const bound = AGENT_CONNECTIONS.unprovenPerAddress;
      await eventually('the oldest were closed', () => flood.closed >= IDLE_CONNECTIONS - bound);
      const agent = await agentOf(15);
      await agent.start();
      early.keepalive();
      await early.until('an answer on the connection there was', () => early.acks === 2);
      expect(early.closed).to.equal(false);
      const { metrics } = (await client.call('statistics.read', {})) as { metrics: Record<string, unknown> };
      expect(metrics['tcp_sessions'])
        .to.be.at.least(bound)
        .and.at.most(bound + FIRST_KEYS);
      expect(metrics).to.have.nested.property('messages.received_breakdown.control_breakdown.startup').at.least(1);
      await logged("Too many connections without a readable message: the oldest one of '127.0.0.1' was closed.");
    } finally {
      flood.end();
    }
  });

  it('shows its configuration, keeps it when a new one is wrong, and stops cleanly', async () => {
    const { remote } = (await client.call('config', { section: 'remote' })) as { remote: unknown[] };
    expect(remote[0]).to.deep.include({ connection: 'secure', port: '0', protocol: ['TCP', 'UDP'] });
    await eventually('the state file', async () => {
      const stats = await client.call('stats', {});
      return (stats['agents'] as { known: number }).known === FIRST_KEYS;
    });
    expect(await daemon.stop()).to.equal(0);
    expect(daemon.output).to.include('Listening on port').and.include('/TCP,UDP (secure).');
  });
});
