import { expect } from 'chai';
import { EventClient } from '../../../support/api/event-client.js';
import { addUser, policy } from '../../../support/api/rbac-user.js';
import { TestCluster } from '../../../support/api/test-cluster.js';

const PASSWORD = 'Correct-42-horse';
const NODES = ['node01', 'node02', 'node03'];

describe('a stream of alerts of several nodes', function () {
  this.timeout(30_000);
  let cluster: TestCluster;
  const clients: EventClient[] = [];

  before(async () => {
    cluster = await TestCluster.start(NODES, { requestTimeoutMs: 2000 });
    await cluster.fill(3, (id) => `node0${id}`);
  });
  after(() => cluster.remove());
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
    cluster.away.clear();
  });

  const add = (node: string, rest: { level?: number; agent?: string } = {}): string => {
    const { alerts, api } = cluster.node(node);
    return `${alerts.add({ time: api.now, ...rest })}@${node}`;
  };
  const open = async (node = 'node01', path = '/alerts/stream', lastId?: string, token?: string) => {
    const { api } = cluster.node(node);
    const client = await EventClient.open(
      api.port,
      path,
      token ?? (await api.login()),
      lastId === undefined ? {} : { lastId },
    );
    clients.push(client);
    expect(await client.next()).to.include({ event: 'begin' });
    return client;
  };
  /** Names of the next alerts, sorted: nodes are in no order. */
  const next = async (client: EventClient, count: number): Promise<string[]> => {
    const names: string[] = [];
    while (names.length < count) {
      const { data } = await client.nextOf('alert');
      names.push((JSON.parse(data) as { alert_id: string }).alert_id);
    }
    return names.sort();
  };

  it('has those of all nodes from then on, each once', async () => {
    for (const node of NODES) add(node);
    const client = await open();
    const first = NODES.map((node) => add(node));
    expect(await next(client, 3)).to.deep.equal(first.sort());
    const second = [add('node02'), add('node02'), add('node03')];
    expect(await next(client, 3)).to.deep.equal(second.sort());
  });

  it('goes on behind its last id at another node, and leaves nothing out', async () => {
    const client = await open();
    const seen = [add('node01'), add('node02')];
    expect(await next(client, 2)).to.deep.equal(seen.sort());
    client.close();
    const missed = NODES.map((node) => add(node));
    const again = await open('node03', '/alerts/stream', client.lastId);
    expect(await next(again, 3)).to.deep.equal(missed.sort());
  });

  it('has those alone that its filters mean, and passes over the others', async () => {
    for (const { db } of cluster.nodes.values()) {
      await db.registry.edit((edit) => edit.setAgent(2, { ...db.registry.agents.get(2)!.record, groups: ['site-1'] }));
    }
    const client = await open('node01', '/alerts/stream?min_level=7&agents_list=002,003&agent_groups=site-1');
    add('node02', { level: 3, agent: '002' });
    add('node02', { level: 9, agent: '003' });
    const id = add('node02', { level: 9, agent: '002' });
    expect(await next(client, 1)).to.deep.equal([id]);
  });

  it('says which node is away, and reads it on where it was', async () => {
    const client = await open();
    const before = add('node02');
    expect(await next(client, 1)).to.deep.equal([before]);
    cluster.away.add('node02');
    expect(JSON.parse((await client.nextOf('waiting')).data)).to.include({ node: 'node02' });
    const missed = add('node02');
    cluster.away.clear();
    expect(JSON.parse((await client.nextOf('resumed')).data)).to.deep.equal({ node: 'node02' });
    client.close();
    const again = await open('node01', '/alerts/stream', before);
    expect(await next(again, 1)).to.deep.equal([missed]);
  });

  it('reads a node that was away when it was opened from then on', async () => {
    add('node02');
    cluster.away.add('node02');
    const client = await open();
    expect(JSON.parse((await client.nextOf('waiting')).data)).to.include({ node: 'node02' });
    const during = add('node02');
    cluster.away.clear();
    const found: string[] = [];
    while (!found.includes(during)) found.push(...(await next(client, 1)));
    expect(found.filter((id) => id === during)).to.have.length(1);
  });

  it('shows a user the alerts of his agents alone, and no names of nodes', async () => {
    const { api } = cluster.node('node01');
    await addUser(api, { name: 'some', password: PASSWORD }, [policy('allow', 'alerts:read', 'agent:id:002')]);
    const client = await open('node01', '/alerts/stream', undefined, await api.login('some', PASSWORD));
    add('node02', { agent: '001' });
    const id = add('node02', { agent: '002' });
    expect(await next(client, 1)).to.deep.equal([id]);
    cluster.away.add('node03');
    expect(JSON.parse((await client.nextOf('waiting')).data)).to.include({ node: 'unknown-node' });
  });

  it('is refused where the id is none of it', async () => {
    const { api } = cluster.node('node01');
    for (const lastId of ['x', 'eyJhIjoxfQAAAAAAAAAA']) {
      expect((await api.call('GET', '/alerts/stream', undefined, { 'last-event-id': lastId })).status).to.equal(400);
    }
  });
});
