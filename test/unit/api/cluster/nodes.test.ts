import { expect } from 'chai';
import type { ApiList } from '../../../support/api/api-list.js';
import { addUser, policy } from '../../../support/api/rbac-user.js';
import { TestCluster } from '../../../support/api/test-cluster.js';

const PASSWORD = 'Correct-42-horse';
const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);

describe('operations about nodes', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await TestCluster.start(['node01', 'node02', 'node03'], { requestTimeoutMs: 6000 });
    await cluster.fill(30, (id) => `node0${1 + (id % 2)}`);
  });
  after(() => cluster.remove());
  beforeEach(() => {
    cluster.asked.length = 0;
    cluster.away.clear();
    cluster.silent.clear();
    cluster.master = 'node02';
  });

  const lists = () => cluster.node('node01').lists;
  const names = ({ data }: ApiList) => data.affected_items.map(({ name }) => name);

  it('say who is there, and who holds the lease', async () => {
    const local = await lists().get('/cluster/local/info');
    expect(local.data.affected_items).to.deep.equal([{ node: 'node01', cluster: 'lab', type: 'worker' }]);
    const { lists: second } = cluster.node('node02');
    expect((await second.get('/cluster/local/info')).data.affected_items[0]).to.include({ type: 'master' });
    expect(names(await lists().get('/cluster/nodes'))).to.deep.equal(['node01', 'node02', 'node03']);
    expect((await lists().get('/cluster/nodes?type=master')).data.affected_items).to.deep.equal([
      { name: 'node02', type: 'master', version: '4.14.7', ip: '192.0.2.2' },
    ]);
    expect(names(await lists().get('/cluster/nodes?sort=-name&limit=1'))).to.deep.equal(['node03']);
    cluster.away.add('node03');
    const there = await lists().get('/cluster/nodes');
    expect([names(there), failures(there)]).to.deep.equal([['node01', 'node02'], []]);
    const named = await lists().get('/cluster/nodes?nodes_list=node01,node03,node09');
    expect(named).to.include({ message: 'Some nodes information was not returned', error: 2 });
    expect(failures(named)).to.deep.equal([
      [1730, 'node09'],
      [3022, 'node03'],
    ]);
  });

  it('tell how nodes are, in the form of the contract', async () => {
    cluster.away.add('node03');
    const health = await lists().get('/cluster/healthcheck');
    expect(health.message).to.equal('Some nodes healthcheck information was not returned');
    const [worker, master] = health.data.affected_items;
    expect(master).to.deep.equal({
      info: { name: 'node02', type: 'master', version: '4.14.7', ip: '192.0.2.2', n_active_agents: 15 },
    });
    expect(worker).to.deep.nested.include({ 'info.n_active_agents': 15 });
    expect(worker).to.deep.nested.include({ 'status.last_keep_alive': '2026-05-08T12:34:18.000000Z' });
    expect(worker).to.deep.nested.include({ 'status.last_sync_agentinfo.n_synced_chunks': 0 });
    expect(failures(health)).to.deep.equal([[3022, 'node03']]);
  });

  it('tell which nodes work by the ruleset of the cluster', async () => {
    const files = (revision: number, synced = true) => ({
      'svc-clusterd': {
        files: {
          ruleset: { revision, synced, id: '', state: 'in_force', problems: [] },
          groups: { synced: 1, waiting: 0 },
        },
      },
    });
    cluster.facts.set('node01', files(7));
    cluster.facts.set('node02', files(5));
    const some = await lists().get('/cluster/ruleset/synchronization');
    expect(some.data.affected_items).to.deep.equal([
      { name: 'node01', synced: true },
      { name: 'node02', synced: false },
      { name: 'node03', synced: false },
    ]);
    cluster.facts.set('node02', files(7, false));
    cluster.facts.set('node03', files(7));
    const now = await lists().get('/cluster/ruleset/synchronization?nodes_list=node02,node03');
    expect(now.data.affected_items.map(({ synced }) => synced)).to.deep.equal([false, true]);
  });

  it('about another node are answered by it', async () => {
    const paths = lists().checker.operations.filter(
      ({ path, method }) => path.startsWith('/cluster/{node_id}/') && method === 'GET',
    );
    expect(paths).to.have.length(13);
    // What it counted meanwhile differs.
    const clear = (text: string) => text.replace(/("(?!error)[\w-]+": )\d+/g, '$1_');
    for (const { path } of paths) {
      const filled = path.replace('{component}', 'agent').replace('{configuration}', 'client');
      const here = await cluster.node('node02').api.call('GET', filled.replace('{node_id}', 'node02'));
      const there = await cluster.node('node01').api.call('GET', filled.replace('{node_id}', 'node02'));
      lists().checker.check('GET', path, there);
      expect([there.status, clear(there.text)], path).to.deep.equal([here.status, clear(here.text)]);
      const unknown = await cluster.node('node01').api.call('GET', filled.replace('{node_id}', 'node09'));
      expect([unknown.status, (unknown.json() as { error: number }).error], path).to.deep.equal([404, 1730]);
    }
    const raw = await cluster.node('node01').api.call('GET', '/cluster/node02/configuration?raw=true');
    expect(raw.text).to.include('<node_name>node02</node_name>');
    expect(raw.headers['content-type']).to.include('application/xml');
    cluster.away.add('node02');
    const away = await cluster.node('node01').api.call('GET', '/cluster/node02/status');
    const problem = away.json() as { error: number; dapi_errors: object };
    expect([away.status, problem.error, Object.keys(problem.dapi_errors)]).to.deep.equal([500, 3022, ['node02']]);
  });

  it('have a configuration written where it is meant for', async () => {
    const headers = { 'content-type': 'application/octet-stream' };
    const body = (name: string) =>
      `<manager_config><cluster><name>lab</name><node_name>${name}</node_name><key>${'k'.repeat(32)}</key><nodes><node>192.0.2.1</node></nodes></cluster><global><logall>yes</logall></global></manager_config>`;
    const written = await cluster
      .node('node01')
      .api.call('PUT', '/cluster/node03/configuration', body('node03'), headers);
    // There is no svc-control in this process that could write it: what says so is the node that it is for.
    const own = await cluster.node('node03').api.call('PUT', '/manager/configuration', body('node03'), headers);
    expect([written.status, written.text]).to.deep.equal([own.status, own.text]);
    expect(cluster.asked.map(({ node }) => node)).to.deep.equal(['node03']);
  });

  it('about several nodes are answered by each, and name those that are not there', async () => {
    const all = await lists().get('/cluster/api/config');
    expect(all.message).to.equal('API configuration was successfully read in all specified nodes');
    expect(all.data.affected_items.map(({ node_name: name }) => name)).to.deep.equal(['node01', 'node02', 'node03']);
    cluster.away.add('node02');
    cluster.silent.add('node03');
    const some = await lists().get('/cluster/api/config?nodes_list=node01,node02,node03,node09');
    expect(some).to.include({ message: 'Not all API configurations could be read', error: 2 });
    expect(failures(some)).to.deep.equal([
      [1730, 'node09'],
      [3021, 'node03'],
      [3022, 'node02'],
    ]);
    const other = await lists().get('/cluster/api/config?nodes_list=node02');
    expect(other).to.include({ message: 'Could not read API configuration in any node', error: 1 });
    const checked = await lists().get('/cluster/configuration/validation?nodes_list=node01');
    expect(checked.data.affected_items).to.deep.equal([{ name: 'node01', status: 'OK' }]);
  });

  it('restart the master behind the others', async () => {
    const order = () => cluster.asked.map(({ node }) => node);
    // There is no supervisor here.
    const one = await cluster.node('node01').api.call('PUT', '/cluster/restart');
    expect([one.status, (one.json() as { error: number }).error]).to.deep.equal([500, 1901]);
    expect(order()).to.deep.equal(['node03', 'node02']);
    await cluster.node('node02').api.call('PUT', '/cluster/restart');
    expect(order().slice(2).sort()).to.deep.equal(['node01', 'node03']);
  });

  it('of a caller who may not read a node are denied, also by that node', async () => {
    const { api } = cluster.node('node01');
    await addUser(api, { name: 'one', password: PASSWORD }, [policy('allow', 'cluster:read', 'node:id:node01')]);
    const headers = { authorization: `Bearer ${await api.login('one', PASSWORD)}` };
    const status = async (path: string) => (await api.request('GET', path, { headers })).status;
    expect(await status('/cluster/node01/status')).to.equal(200);
    expect(await status('/cluster/node02/status')).to.equal(403);
    expect(await status('/cluster/nodes?nodes_list=node02')).to.equal(403);
    const shown = (await api.request('GET', '/cluster/nodes', { headers })).json() as ApiList;
    expect(names(shown)).to.deep.equal(['node01']);
    const refused = await cluster.node('node02').api.api.handlers['api.run']({
      operation: 'getClusterNodeIdStatus',
      parameters: { node_id: 'node02' },
      caller: {
        name: 'one',
        mode: 'white',
        policies: [{ actions: ['cluster:read'], resources: ['node:id:node01'], effect: 'allow' }],
      },
      ...{ form: 'sent', limitMs: 1000, from: 'node01' },
    });
    expect(refused).to.deep.include({ kind: 'refused', status: 403 });
    expect(cluster.asked).to.deep.equal([]);
  });
});
