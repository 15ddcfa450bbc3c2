import { expect } from 'chai';
import type { ApiList } from '../../../support/api/api-list.js';
import { addUser, policy } from '../../../support/api/rbac-user.js';
import { TestCluster } from '../../../support/api/test-cluster.js';

const NOW = Date.parse('2026-05-08T12:34:19.000Z');
const PASSWORD = 'Correct-42-horse';
const NODES = ['node01', 'node02', 'node03'];

type AlertList = ApiList & {
  data: { next_cursor: string | null; total_is_exact: boolean; total_alerts: number; alerts_without_field: number };
};

describe('alerts of several nodes', () => {
  let cluster: TestCluster;
  /** Of all nodes, oldest first. */
  let all: string[];
  before(async () => {
    cluster = await TestCluster.start(NODES, { requestTimeoutMs: 2000 });
    await cluster.fill(3, (id) => `node0${id}`);
    // A minute apart, in turns; node03 has fewer and older ones.
    const made = Array.from({ length: 30 }, (_none, index) => {
      const node = index < 9 ? NODES[index % 3]! : NODES[index % 2]!;
      const { alerts } = cluster.node(node);
      const agent = index % 5 === 0 ? '000' : `00${NODES.indexOf(node) + 1}`;
      return `${alerts.add({ time: NOW - (30 - index) * 60_000, agent, rule: `${index % 4}` })}@${node}`;
    });
    all = made;
  });
  after(() => cluster.remove());
  beforeEach(() => {
    cluster.away.clear();
    cluster.silent.clear();
    for (const { alerts } of cluster.nodes.values()) alerts.isOff = false;
  });

  const get = async (path: string, name = 'node01', template?: string) =>
    (await cluster.node(name).lists.get(path, template)) as AlertList;
  const idsOf = ({ data }: ApiList) => data.affected_items.map((item) => item['alert_id']);
  const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);
  const pages = async (path: string, name = 'node01') => {
    const found: unknown[] = [];
    let cursor = '';
    for (;;) {
      const page = await get(`${path}${cursor}`, name);
      found.push(...idsOf(page));
      if (page.data.next_cursor === null) return found;
      cursor = `&cursor=${page.data.next_cursor}`;
    }
  };

  it('are one list by time, whichever node is asked, in pages of any size', async () => {
    const list = await get('/alerts');
    expect(idsOf(list)).to.deep.equal(all.toReversed());
    expect(list.data).to.include({ total_affected_items: 30, total_is_exact: true, next_cursor: null });
    for (const limit of [1, 4, 7, 30]) {
      expect(await pages(`/alerts?limit=${limit}`, 'node03'), `${limit}`).to.deep.equal(all.toReversed());
      expect(await pages(`/alerts?order=asc&limit=${limit}`, 'node02'), `${limit}`).to.deep.equal(all);
    }
    // Also where a node has told all that it has before the others have.
    for (let cursor: string | null = ''; cursor !== null;) {
      const { data }: AlertList = await get(`/alerts?order=asc&limit=7${cursor}`);
      expect(data).to.include({ total_affected_items: 30, total_is_exact: true });
      cursor = data.next_cursor === null ? null : `&cursor=${data.next_cursor}`;
    }
  });

  it('are those of a group of agents, which every node knows', async () => {
    for (const { db } of cluster.nodes.values()) {
      await db.registry.edit((edit) => {
        for (const id of [1, 2, 3]) {
          edit.setAgent(id, { ...db.registry.agents.get(id)!.record, groups: id === 3 ? ['default'] : ['site-1'] });
        }
      });
    }
    const found = await get('/alerts?agent_groups=site-1', 'node03');
    expect(idsOf(found)).to.deep.equal(idsOf(await get('/alerts?agents_list=001,002')));
    expect(found.data.total_affected_items).to.be.greaterThan(0);
    expect((await get('/alerts/top?field=rule.id&from=0&agent_groups=nobody')).data.total_alerts).to.equal(0);
  });

  it('stay where they were in pages while others come in', async () => {
    const first = await get('/alerts?limit=3');
    // node03 has none on this page.
    const late = cluster.node('node03').alerts.add({ time: NOW });
    const rest = await pages(`/alerts?limit=9&cursor=${first.data.next_cursor}`);
    expect([...idsOf(first), ...rest]).to.deep.equal(all.toReversed());
    all.push(`${late}@node03`);
  });

  it('mean the same times at all nodes', async () => {
    cluster.node('node02').api.now += 3_600_000;
    expect((await get('/alerts?from=now-5m')).data.total_affected_items).to.equal(6);
    cluster.node('node02').api.now -= 3_600_000;
    expect(
      (await get('/alerts/histogram?from=now-30m&interval=10m')).data.affected_items.map(({ count }) => count),
    ).to.deep.equal([10, 10, 10]);
  });

  it('are counted together', async () => {
    const top = await get('/alerts/top?field=rule.id&limit=2&to=2026-05-08T12:34:19Z');
    expect(top.data.affected_items).to.deep.equal([
      { value: '0', count: 8 },
      { value: '1', count: 8 },
    ]);
    expect(top.data).to.include({ total_alerts: 30, total_is_exact: true, alerts_without_field: 0 });
    const series = await get('/alerts/histogram?from=now-30m&interval=30m&by=rule.id');
    expect(series.data.affected_items[0]!['by']).to.have.deep.members([
      { value: '0', count: 8 },
      { value: '1', count: 8 },
      { value: '2', count: 7 },
      { value: '3', count: 7 },
    ]);
  });

  it('are shown by the node that has them', async () => {
    const template = '/alerts/{alert_id}';
    for (const id of all.slice(0, 3)) expect(idsOf(await get(`/alerts/${id}`, 'node02', template))).to.deep.equal([id]);
    const { api } = cluster.node('node01');
    expect((await api.call('GET', `/alerts/${all[0]!.split('@')[0]}@node09`)).json()).to.include({ error: 1730 });
    cluster.away.add('node02');
    expect((await api.call('GET', `/alerts/${all[1]}`)).json()).to.include({ error: 3022 });
  });

  it('of a node that is away, says nothing or has its store off are missing by name, on all pages', async () => {
    cluster.away.add('node02');
    const list = await get('/alerts?limit=5');
    expect(list).to.include({ error: 2 });
    expect(failures(list)).to.deep.equal([[3022, 'node02']]);
    expect(list.data.total_is_exact).to.equal(false);
    cluster.away.clear();
    const others = all.filter((id) => !id.endsWith('@node02')).toReversed();
    const rest = await pages(`/alerts?limit=50&cursor=${list.data.next_cursor}`);
    expect([...idsOf(list), ...rest]).to.deep.equal(others);
    // It is back, and still left out: each page says so, and how many there are at least.
    for (let { next_cursor: cursor } = list.data; cursor !== null;) {
      const page = await get(`/alerts?limit=5&cursor=${cursor}`);
      expect(failures(page)).to.deep.equal([[3022, 'node02']]);
      expect(page.data).to.include({ total_affected_items: others.length, total_is_exact: false });
      cursor = page.data.next_cursor;
    }
    // One that is away later is left out from there on.
    const first = await get('/alerts?limit=5');
    expect(first.data).to.include({ total_affected_items: all.length, total_is_exact: true });
    cluster.away.add('node02');
    const second = await get(`/alerts?limit=5&cursor=${first.data.next_cursor}`);
    cluster.away.clear();
    const third = await get(`/alerts?limit=5&cursor=${second.data.next_cursor}`);
    for (const page of [second, third]) {
      expect(failures(page)).to.deep.equal([[3022, 'node02']]);
      expect(page.data.total_is_exact).to.equal(false);
    }
    cluster.silent.add('node03');
    cluster.node('node02').alerts.isOff = true;
    const top = await get('/alerts/top?field=rule.id');
    expect(failures(top)).to.deep.equal([
      [3021, 'node03'],
      [8000, 'node02'],
    ]);
    cluster.silent.clear();
    for (const { alerts } of cluster.nodes.values()) alerts.isOff = true;
    expect((await cluster.node('node01').api.call('GET', '/alerts')).json()).to.include({ error: 8000 });
  });

  it('are refused once where the request is wrong', async () => {
    const { api } = cluster.node('node01');
    for (const path of [
      '/alerts?search=%22',
      '/alerts?q=x',
      '/alerts?cursor=20261127-000-100',
      '/alerts?from=2026-13-01',
    ]) {
      expect((await api.call('GET', path)).status, path).to.equal(400);
    }
  });

  it('are those of the agents that the caller may see, at each node', async () => {
    const { api } = cluster.node('node01');
    await addUser(api, { name: 'some', password: PASSWORD }, [policy('allow', 'alerts:read', 'agent:id:002')]);
    const headers = { authorization: `Bearer ${await api.login('some', PASSWORD)}` };
    const list = (await api.request('GET', '/alerts', { headers })).json() as AlertList;
    expect(list.data.affected_items.map((item) => (item['agent'] as { id: string }).id)).to.satisfy(
      (ids: string[]) => ids.length > 0 && ids.every((id) => id === '002'),
    );
    // Nodes that fail are not named to who may not see them.
    cluster.away.add('node03');
    const partial = (await api.request('GET', '/alerts', { headers })).json() as AlertList;
    expect(failures(partial)).to.deep.equal([[3022, 'unknown-node']]);
    const named = (await api.request('GET', '/alerts?agents_list=001', { headers })).json() as AlertList;
    expect(named).to.include({ error: 4000 });
  });
});
