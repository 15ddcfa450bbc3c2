import { expect } from 'chai';
import { READ_AHEAD_EVENTS } from '../../../daemons/remoted/remoted-limits.js';
import { buildEventPayload } from '../../../lib/agentlink/event-payload.js';
import { MAX_WINDOW_EVENTS } from '../../../lib/bus/bus-limits.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { identity, KeepingSink, RemotedHome, type RemotedHomeOptions } from '../../support/remoted/remoted-home.js';

/** More events than the window and the socket's buffers hold. */
const MANY = 3 * MAX_WINDOW_EVENTS;
const QUEUE_SIZE = 100;
/** For thousands of events on a busy machine. */
const PATIENCE_MS = 40_000;

describe('svc-remoted under misfortune', function () {
  this.timeout(120_000);
  let home: RemotedHome;
  let daemon: RunningDaemon | undefined;
  let sink: KeepingSink | undefined;
  const agents: MinimalAgent[] = [];

  afterEach(async () => {
    for (const agent of agents.splice(0)) agent.close();
    await daemon?.stop('SIGKILL');
    await sink?.stop();
    daemon = sink = undefined;
    home.remove();
  });

  function makeHome(options: RemotedHomeOptions = {}): void {
    home = new RemotedHome(options);
    home.keys(identity(1), identity(2));
  }

  function agentOf(number: number): MinimalAgent {
    const agent = new MinimalAgent(identity(number));
    agents.push(agent);
    return agent;
  }

  async function start(): Promise<RunningDaemon> {
    daemon = await RunningDaemon.start('svc-remoted', home);
    return daemon;
  }

  it('goes on counting after kill -9, and refuses what was sent before where it is told to', async () => {
    makeHome({ options: 'remoted.verify_msg_id=1\nremoted.recv_counter_flush=10\n' });
    sink = new KeepingSink(home);
    await sink.start();
    const first = await start();
    const agent = agentOf(1);
    await agent.connect(first.port('agents_tcp'));
    await agent.start();
    const old = agent.seal('1:/x:old');
    agent.write(old);
    for (let count = 0; count < 30; count += 1) agent.event('/x', `event ${String(count)}`);
    await eventually('the events', () => sink?.texts('001').length === 31);
    await first.stop('SIGKILL');
    await agent.until('the end', () => agent.closed);
    const before = agent.managerCounters.at(-1);

    const second = await start();
    await agent.connect(second.port('agents_tcp'));
    await agent.start();
    const after = agent.managerCounters.at(-1);
    expect(after?.global === before?.global && (after?.local ?? 0) > (before?.local ?? 0)).to.equal(true);
    agent.event('/x', 'after the crash');
    await eventually('the event', () => sink?.texts('001').at(-1) === 'after the crash');
    agent.write(old);
    await agent.until('the end', () => agent.closed);
    await eventually('the log', () => second.output.includes("(1407): Duplicated counter for 'box001'."));
    expect(sink.texts('001')).to.have.length(32);
    // A clean stop writes down everything, so not one message more is taken again.
    await agent.connect(second.port('agents_tcp'));
    const last = agent.seal('1:/x:last');
    agent.write(last);
    await eventually('the event', () => sink?.texts('001').at(-1) === 'last');
    expect(await second.stop()).to.equal(0);
    const third = await start();
    await agent.connect(third.port('agents_tcp'));
    agent.write(last);
    await agent.until('the end', () => agent.closed);
  });

  it('reads no further while nobody takes events, and loses none of them', async () => {
    makeHome();
    const running = await start();
    const agent = agentOf(1);
    const other = agentOf(2);
    await agent.connect(running.port('agents_tcp'));
    await other.connect(running.port('agents_tcp'));
    await agent.start();
    await other.start();
    let written = 0;
    const filler = 'x'.repeat(200);
    const pump = (async () => {
      for (; written < MANY; written += 1) {
        const payload = buildEventPayload('1', '/x', `${String(written)} ${filler}`);
        if (!agent.write(agent.seal(payload))) await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    // It is awaited at the end; a test that fails before leaves an agent that was closed.
    pump.catch(() => {});
    const client = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
    try {
      await eventually(
        'it stands still',
        async () => {
          const stats = (await client.call('stats', {})) as { agents: { held: number }; events: { pending: number } };
          return stats.agents.held === 1 && stats.events.pending === 2 * READ_AHEAD_EVENTS;
        },
        PATIENCE_MS,
      );
      // Who sends nothing but keepalives is answered all the time.
      const acks = other.acks;
      other.keepalive();
      await other.until('the ACK', () => other.acks > acks);
    } finally {
      client.close();
    }
    sink = new KeepingSink(home);
    await sink.start();
    await pump;
    await eventually('all events', () => (sink?.events.length ?? 0) >= MANY, PATIENCE_MS);
    const numbers = sink.texts('001').map((text) => Number(text.split(' ', 1)[0]));
    expect(numbers).to.have.length(MANY);
    expect(numbers.every((number, index) => number === index)).to.equal(true);
  });

  it('counts the datagrams it has to drop', async () => {
    makeHome({ remote: `<protocol>udp</protocol><queue_size>${String(QUEUE_SIZE)}</queue_size>` });
    const running = await start();
    const agent = agentOf(1);
    await agent.connectUdp(running.port('agents_udp'));
    await agent.start();
    const client = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
    type Stats = { messages: { received: { event: number; discarded: number } }; agents: { queued: number } };
    const stats = async (): Promise<Stats> => (await client.call('stats', {})) as Stats;
    try {
      // Small bursts, each read before the next: what a full buffer of the kernel loses nobody can count.
      const { messages, agents: held } = await eventually(
        'something is dropped',
        async () => {
          for (let count = 0; count < 100; count += 1) agent.event('/x', String(count));
          const now = await stats();
          return now.messages.received.discarded > 0 ? now : undefined;
        },
        PATIENCE_MS,
      );
      expect(held.queued).to.equal(QUEUE_SIZE);
      expect(messages.received.discarded).to.equal(messages.received.event - MAX_WINDOW_EVENTS - QUEUE_SIZE);
      await eventually('the log', () =>
        running.output.includes(`Message queue is full (${String(QUEUE_SIZE)}). Events may be lost.`),
      );
    } finally {
      client.close();
    }
  });

  it('does not start without keys where they are demanded', async () => {
    makeHome({ options: 'remoted.pass_empty_keyfile=0\n' });
    home.keys();
    const failure = await start().then(
      () => 'started',
      (error: unknown) => String(error),
    );
    expect(failure).to.include('(1751): File client.keys not found or empty.');
  });
});
