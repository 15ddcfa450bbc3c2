import { expect } from 'chai';
import { modulesdContract, type ShownTask } from '../../../../lib/bus/contracts/modulesd.js';
import { syscheckdContract } from '../../../../lib/bus/contracts/syscheckd.js';
import type { RequestServer } from '../../../../lib/bus/request-server.js';
import type { ApiList } from '../../../support/api/api-list.js';
import { TestCluster } from '../../../support/api/test-cluster.js';
import { serveContract } from '../../../support/bus/serve-contract.js';
import { RemotedServer } from '../../../support/remoted/remoted-server.js';

const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);
const NAMES = ['node01', 'node02', 'node03'];

/** Tasks that svc-modulesd of a node has, by agent; each node counts its own. */
class Tasks {
  readonly made: ShownTask[] = [];

  constructor(readonly node: string) {}

  readonly handlers = {
    'upgrades.create': ({ agents }: { agents: readonly string[] }) => {
      const tasks = agents.map((agent) => ({ agent, id: this.#add(agent) }));
      return { tasks, failed: [] };
    },
    'upgrades.last': ({ agents }: { agents: readonly string[] }) => {
      const tasks = this.made.filter(({ agent }) => agents.includes(agent));
      return { tasks, without: agents.filter((id) => !tasks.some(({ agent }) => agent === id)) };
    },
    'tasks.list': ({ node }: { node?: string }) => ({
      tasks: this.made.filter((task) => node === undefined || task.node === node),
      more: false,
    }),
  };

  #add(agent: string): number {
    const id = this.made.length + 1;
    const others = { module: 'upgrade_module', status: 'Pending', created: 1, updated: 1, error: '' } as const;
    this.made.push({ id, agent, node: this.node, command: 'upgrade', ...others });
    return id;
  }
}

describe('agents of several nodes', () => {
  let cluster: TestCluster;
  const stops: (() => Promise<void>)[] = [];
  const remoteds = new Map<string, RemotedServer>();
  const scans = new Map<string, number>();
  before(async () => {
    cluster = await TestCluster.start(NAMES, { experimentalFeatures: true, requestTimeoutMs: 3000 });
    await cluster.fill(12, (id) => NAMES[id % 3]!);
    for (const { name, api, db } of cluster.nodes.values()) {
      const remoted = await RemotedServer.start(api.home);
      remoteds.set(name, remoted);
      const servers: RequestServer<never>[] = [
        await serveContract(api.home, modulesdContract, new Tasks(name).handlers),
        await serveContract(api.home, syscheckdContract, {
          order: () => {
            scans.set(name, (scans.get(name) ?? 0) + 1);
            return {};
          },
        }),
      ] as never;
      stops.push(() => remoted.stop(), ...servers.map((server) => () => server.stop()));
      await db.registry.edit((edit) => {
        for (const id of [1, 2, 3, 4]) {
          const { record } = db.registry.agents.get(id)!;
          edit.setAgent(id, { ...record, groups: ['site-0'], version: 'Wazuh v4.14.0' });
        }
      });
    }
  });
  after(async () => {
    for (const stop of stops) await stop();
    await cluster.remove();
  });
  beforeEach(() => {
    cluster.away.clear();
    cluster.asked.length = 0;
    for (const remoted of remoteds.values()) remoted.sent.length = 0;
  });

  const lists = (node = 'node01') => cluster.node(node).lists;
  const sent = () =>
    NAMES.map((name) =>
      remoteds
        .get(name)!
        .sent.flatMap(({ ids }) => ids)
        .sort(),
    );

  it('of a group, or a node, are restarted where they are', async () => {
    const group = await lists().call('PUT', '/agents/group/site-0/restart', {
      template: '/agents/group/{group_id}/restart',
    });
    expect(group.data.affected_items).to.deep.equal(['001', '002', '003', '004']);
    expect(sent()).to.deep.equal([['003'], ['001', '004'], ['002']]);
    const node = await lists('node03').call('PUT', '/agents/node/node02/restart', {
      template: '/agents/node/{node_id}/restart',
    });
    expect(node.data.affected_items).to.deep.equal(['001', '004', '007', '010']);
  });

  it('are all told to scan, and of the managers the one that is asked', async () => {
    const answer = await lists().call('PUT', '/syscheck');
    expect(answer.data.total_affected_items).to.equal(13);
    expect(Object.fromEntries(scans)).to.deep.equal({ node01: 1 });
    expect(sent().map((ids) => ids.length)).to.deep.equal([4, 4, 4]);
  });

  it('are upgraded by their nodes, whose tasks are one list', async () => {
    const made = await lists().call('PUT', '/agents/upgrade?agents_list=003,001,002,004');
    expect(made.data.affected_items).to.deep.equal([
      { agent: '001', task_id: 1 },
      { agent: '002', task_id: 1 },
      { agent: '003', task_id: 1 },
      { agent: '004', task_id: 2 },
    ]);
    const result = await lists('node02').get('/agents/upgrade_result?agents_list=001,002,005');
    expect(result.data.affected_items.map(({ agent, node }) => [agent, node])).to.deep.equal([
      ['001', 'node02'],
      ['002', 'node03'],
    ]);
    expect(failures(result)).to.deep.equal([[1813, '005']]);
    const tasks = await lists('node03').get('/tasks/status?sort=-agent_id&limit=3&select=agent_id,node');
    expect(tasks.data.total_affected_items).to.equal(4);
    expect(tasks.data.affected_items.map(({ agent_id: id, node }) => [id, node])).to.deep.equal([
      ['004', 'node02'],
      ['003', 'node01'],
      ['002', 'node03'],
    ]);
    expect((await lists().get('/tasks/status?node=node03')).data.total_affected_items).to.equal(1);
    expect((await lists().get('/tasks/status?q=agent_id=003')).data.total_affected_items).to.equal(1);
    cluster.away.add('node02');
    const some = await lists().get('/tasks/status');
    // Whoever is not heard is not asked.
    expect([some.data.total_affected_items, failures(some)]).to.deep.equal([2, []]);
    const left = await lists().call('PUT', '/agents/upgrade?agents_list=001,003');
    expect([left.data.affected_items.length, failures(left)]).to.deep.equal([1, [[3022, '001']]]);
  });

  it('are forgotten about where their findings are', async () => {
    const answer = await lists().call('DELETE', '/experimental/rootcheck?agents_list=002,001,003');
    expect(answer.data.affected_items).to.deep.equal(['001', '002', '003']);
    expect(cluster.asked.map(({ node }) => node).sort()).to.deep.equal(['node02', 'node03']);
    const all = await lists().call('DELETE', '/experimental/rootcheck?agents_list=all');
    expect(all.data.total_affected_items).to.equal(13);
  });

  it('are read where what is stored of them lies, as a client would have it there', async () => {
    for (const [path, template] of [
      ['/syscheck/001?pretty=true', '/syscheck/{agent_id}'],
      ['/syscheck/001/last_scan', '/syscheck/{agent_id}/last_scan'],
      ['/rootcheck/001', '/rootcheck/{agent_id}'],
      ['/sca/001', '/sca/{agent_id}'],
      ['/syscollector/001/packages?limit=5', '/syscollector/{agent_id}/packages'],
      ['/syscollector/001/packages?sort=nothing', '/syscollector/{agent_id}/packages'],
      ['/ciscat/001/results', '/ciscat/{agent_id}/results'],
    ] as const) {
      const there = await cluster.node('node02').api.call('GET', path);
      const here = await cluster.node('node01').api.call('GET', path);
      lists().checker.check('GET', template, here);
      expect([here.status, here.headers['content-type'], here.text], path).to.deep.equal([
        there.status,
        there.headers['content-type'],
        there.text,
      ]);
    }
    expect(cluster.asked).to.have.length(7);
    expect(new Set(cluster.asked.map(({ node }) => node))).to.deep.equal(new Set(['node02']));
  });

  it('of a node that the cluster does not have are answered where they are asked for', async () => {
    for (const { db } of cluster.nodes.values()) {
      await db.registry.edit((edit) => {
        edit.setAgent(12, { ...db.registry.agents.get(12)!.record, nodeName: 'node77' });
        edit.setAgent(11, { ...db.registry.agents.get(11)!.record, nodeName: 'unknown', status: 'never_connected' });
      });
    }
    expect((await lists('node02').get('/sca/012', '/sca/{agent_id}')).error).to.equal(0);
    const answer = await lists('node02').call('PUT', '/agents/restart?agents_list=001,011,012');
    expect([answer.data.affected_items, failures(answer)]).to.deep.equal([['001', '012'], [[1707, '011']]]);
    expect(sent()).to.deep.equal([[], ['001', '012'], []]);
  });
});
