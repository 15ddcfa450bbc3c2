import { once } from 'node:events';
import { expect } from 'chai';
import { buildEventPayload } from '../../../lib/agentlink/event-payload.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { identity, KeepingSink, RemotedHome } from '../../support/remoted/remoted-home.js';

const EVENTS = 8000;
/** An agent that has sent so many is in full swing when the daemon is told to stop. */
const BEFORE_STOP = 2000;
/** Written together: the sockets then hold more than is read at a time. */
const BURST = 50;
const PATIENCE_MS = 40_000;
const FILLER = 'x'.repeat(200);

describe('svc-remoted that is stopped in an orderly way', function () {
  this.timeout(120_000);
  let home: RemotedHome;
  let daemon: RunningDaemon;
  let sink: KeepingSink;
  let agent: MinimalAgent;

  beforeEach(async () => {
    home = new RemotedHome();
    home.keys(identity(1));
    agent = new MinimalAgent(identity(1));
    sink = new KeepingSink(home);
    await sink.start();
    daemon = await RunningDaemon.start('svc-remoted', home);
  });
  afterEach(async () => {
    agent.close();
    await daemon.stop('SIGKILL');
    await sink.stop();
    home.remove();
  });

  const eventOf = (number: number): Buffer => agent.seal(buildEventPayload('1', '/x', `${String(number)} ${FILLER}`));
  const numbers = (): number[] => sink.texts('001').map((text) => Number(text.split(' ', 1)[0]));

  /** Sends without pause until it has sent all or the manager ends the connection. @returns the next number */
  async function pump(from: number, sent: (count: number) => void): Promise<number> {
    const { socket } = agent;
    let next = from;
    while (next < EVENTS && socket?.writable === true && !socket.readableEnded) {
      for (let count = 0; count < BURST && next < EVENTS; count += 1) {
        agent.write(eventOf(next));
        next += 1;
      }
      sent(next);
      if (socket.writableNeedDrain) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
      else await new Promise((resolve) => setImmediate(resolve));
    }
    return next;
  }

  it('loses nothing of an agent that sends without pause while it restarts', async () => {
    await agent.connect(daemon.port('agents_tcp'));
    await agent.start();
    let stopping: Promise<number | null> | undefined;
    const reached = await pump(0, (count) => {
      if (count >= BEFORE_STOP) stopping ??= daemon.stop();
    });
    expect(reached).to.be.greaterThan(BEFORE_STOP - 1);
    expect(await stopping).to.equal(0);
    await agent.until('the end', () => agent.closed);
    daemon = await RunningDaemon.start('svc-remoted', home);
    await agent.connect(daemon.port('agents_tcp'));
    await agent.start();
    await pump(reached, () => {});
    await eventually('the last event', () => numbers().at(-1) === EVENTS - 1, PATIENCE_MS);
    expect(numbers()).to.deep.equal(Array.from({ length: EVENTS }, (_, index) => index));
  });

  it('hands on the datagrams that the system has taken before', async () => {
    await agent.connectUdp(daemon.port('agents_udp'));
    await agent.start();
    // It stands still while they come, and finds the signal to stop beside them.
    daemon.process.kill('SIGSTOP');
    const sent = 200;
    for (let number = 0; number < sent; number += 1) agent.write(eventOf(number));
    // What a socket of this host sends to another is there when the send has ended; this one was the last.
    await new Promise<void>((resolve) => agent.whenSent(resolve));
    const stopped = daemon.stop();
    daemon.process.kill('SIGCONT');
    expect(await stopped).to.equal(0);
    await eventually('all events', () => numbers().length >= sent, PATIENCE_MS);
    expect(numbers()).to.deep.equal(Array.from({ length: sent }, (_, index) => index));
  });
});
