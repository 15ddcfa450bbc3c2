import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { startupMessage } from '../../../lib/agentlink/control-text.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { ClusterManager } from '../../support/authd/cluster-manager.js';
import { enrol, keyOf } from '../../support/authd/enrollment.js';
import { eventually } from '../../support/eventually.js';
import { natsServers } from '../../support/nats/nats-servers.js';
import { KeepingSink } from '../../support/remoted/remoted-home.js';

describe('svc-authd at two nodes of a cluster', function () {
  this.timeout(120_000);
  const servers = natsServers({ servers: 1, managers: ['n2'] });
  let one: ClusterManager;
  let two: ClusterManager;
  let sink: KeepingSink;

  before(async () => {
    one = await ClusterManager.start(servers(), 'n1', []);
    two = await ClusterManager.start(servers(), 'n2', []);
    sink = new KeepingSink(two.home);
    await sink.start();
    await two.startDaemon('svc-remoted');
  });
  after(async () => {
    // What a start that failed has left undone is not there.
    await (sink as KeepingSink | undefined)?.stop();
    for (const manager of [one, two] as (ClusterManager | undefined)[]) await manager?.close();
  });

  const ask = (manager: ClusterManager, name: string) => enrol(manager.authd.port, `OSSEC A:'${name}' V:'v4.14.7'\n`);
  const agree = (count: number) =>
    eventually('both have the same keys', () => one.keys.length === count && one.keys.join() === two.keys.join());

  it('enrols at both at once, and gives a name to one', async () => {
    const all = [one, two].flatMap((manager) => Array.from({ length: 30 }, (_, index) => [manager, index] as const));
    const added = await Promise.all(
      all.map(async ([manager, index]) => keyOf(await ask(manager, `${manager.node}-${index}`))),
    );
    expect(new Set(added.map(({ id }) => id)).size).to.equal(60);
    await agree(60);
    const replies = await Promise.all([one, two].map((manager) => ask(manager, 'same')));
    const given = replies.filter((reply) => reply.startsWith('OSSEC K:'));
    // One that never connected keeps its id with another key, whichever node it asks.
    expect(new Set(given.map((reply) => keyOf(reply).id)).size).to.equal(1);
    await agree(61);
  });

  it('lets an agent in at the other node with its first connection', async () => {
    const agents: MinimalAgent[] = [];
    try {
      for (let count = 0; count < 10; count += 1) {
        const { id, name, key } = keyOf(await ask(one, `moves-${count}`));
        const agent = new MinimalAgent({ id, name, key });
        agents.push(agent);
        await agent.connect(two.daemon('svc-remoted').port('agents_tcp'));
        agent.send(startupMessage('v4.14.7'));
        await eventually('an answer', () => agent.closed || agent.acks > 0);
        expect(agent.acks, name).to.be.greaterThan(0);
      }
      const { id = '' } = agents[0]?.key ?? {};
      await one.authd.client.call('remove', { ids: [id] });
      await eventually('the removed one loses its connection', () => agents[0]?.closed);
    } finally {
      for (const agent of agents) agent.close();
    }
    await agree(70);
  });

  it('has all agents again after an end with a damaged file, and gives no id again', async () => {
    await two.authd.end('SIGKILL');
    writeFileSync(two.home.path('etc/client.keys'), '001 cut of');
    const ids = one.keys.map((line) => Number(line.split(' ', 1)[0])).sort((a, b) => a - b);
    const highest = ids.at(-1) ?? 0;
    const last = String(highest).padStart(3, '0');
    await one.authd.client.call('remove', { ids: [last], purge: true });
    await two.startAuthd();
    await agree(69);
    expect(Number(keyOf(await ask(two, 'next')).id)).to.equal(highest + 1);
    await agree(70);
  });

  it('tells agents that nothing can be decided without NATS, and goes on when it is back', async () => {
    const [server] = servers().servers;
    await server?.kill();
    for (const manager of [one, two]) {
      await eventually(
        'it is refused',
        async () => (await ask(manager, 'away')) === 'ERROR: Cannot comunicate with master. Unable to add agent',
      );
    }
    expect(two.keys).to.have.length(70);
    await server?.start();
    const { id } = await eventually('it is added', async () => {
      const reply = await ask(two, 'away');
      return reply.startsWith('OSSEC K:') ? keyOf(reply) : undefined;
    });
    expect(Number(id)).to.be.greaterThan(0);
    await agree(71);
  });
});
