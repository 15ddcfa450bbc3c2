import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { basic, TestApi } from '../../support/api/test-api.js';

const KEY = 'k'.repeat(32);
const CLUSTER = `<manager_config>
  <cluster><name>lab</name><node_name>node01</node_name><key>${KEY}</key><nodes><node>192.0.2.1</node></nodes></cluster>
  <global><logall>no</logall></global>
</manager_config>
`;
const PASSWORD = 'Correct-42-horse';

describe('the cluster over the API', () => {
  let api: TestApi;
  let lists: ListCaller;
  beforeEach(async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    lists = new ListCaller(api);
  });
  afterEach(() => api.remove());

  const samples: Record<string, string> = { node_id: 'node01', component: 'agent', configuration: 'client' };
  const paths = () =>
    lists.checker.operations
      .filter(({ path }) => path.startsWith('/cluster/') && path !== '/cluster/status')
      .map((operation) => ({
        ...operation,
        filled: operation.path.replace(/\{(\w+)\}/g, (_place, name: string) => samples[name]!),
        headers: operation.body === undefined ? undefined : { 'content-type': operation.body.types[0]! },
      }));

  it('is off without a section: its status says so, and everything else is refused with 3013', async () => {
    const status = await api.call('GET', '/cluster/status');
    lists.checker.check('GET', '/cluster/status', status);
    expect(status.json()).to.deep.equal({ data: { enabled: 'no', running: 'no' }, error: 0 });
    expect(paths()).to.have.length(23);
    for (const { method, path, filled, headers } of paths()) {
      const answer = await api.call(method, filled, headers === undefined ? undefined : '<a/>', headers);
      lists.checker.check(method, path, answer);
      expect([answer.status, (answer.json() as { error: number }).error], path).to.deep.equal([400, 3013]);
      const wrong = await api.call(method, `${filled}?foo=1`);
      expect((wrong.json() as { detail: string }).detail, path).to.equal('Extra query parameter(s) foo not in spec');
    }
  });

  it('is refused to who may not read nodes before anything else is said of it', async () => {
    await addUser(api, { name: 'reader', password: PASSWORD }, [policy('allow', 'agent:read', 'agent:id:*')]);
    const login = await api.request('POST', '/security/user/authenticate?raw=true', {
      headers: { authorization: basic('reader', PASSWORD) },
    });
    const headers = { authorization: `Bearer ${login.text}` };
    const status = await api.request('GET', '/cluster/status', { headers });
    expect([status.status, (status.json() as { error: number }).error]).to.deep.equal([403, 4000]);
    for (const { method, path, filled, parameters, headers: type } of paths()) {
      const takesNodes = parameters.some(({ name }) => name === 'nodes_list');
      const answer = await api.request(method, takesNodes ? `${filled}?nodes_list=node01` : filled, {
        headers: { ...headers, ...type },
        ...(type === undefined ? {} : { body: '<a/>' }),
      });
      const { error, detail } = answer.json() as { error: number; detail: string };
      expect([answer.status, error, detail], path).to.deep.equal([
        403,
        4000,
        'Permission denied: Resource type: node:id',
      ]);
    }
  });

  it('shows with a section what the configuration says of this node', async () => {
    writeFileSync(api.home.path('etc/manager.conf'), CLUSTER);
    const status = await api.call('GET', '/cluster/status');
    expect(status.json()).to.deep.include({ data: { enabled: 'yes', running: 'no' } });
    const info = await lists.get('/cluster/local/info');
    expect(info).to.deep.include({ message: 'All selected information was returned', error: 0 });
    expect(info.data.affected_items).to.deep.equal([{ node: 'node01', cluster: 'lab', type: 'worker' }]);
    const config = (await lists.get('/cluster/local/config')).data.affected_items[0];
    expect(config).to.deep.include({ name: 'lab', key: KEY, nodes: ['192.0.2.1'], disabled: false, port: 1516 });
    // Nobody but svc-clusterd knows of other nodes.
    for (const path of ['/cluster/nodes', '/cluster/healthcheck', '/cluster/ruleset/synchronization']) {
      const answer = await api.call('GET', path);
      lists.checker.check('GET', path, answer);
      const { error, detail } = answer.json() as { error: number; detail: string };
      expect([answer.status, error], path).to.deep.equal([503, 3012]);
      expect(detail).to.include('svc-clusterd');
      expect(answer.headers).to.include({ 'retry-after': '5' });
    }
  });

  it('hides its key from who may not change the configuration', async () => {
    writeFileSync(api.home.path('etc/manager.conf'), CLUSTER);
    await addUser(api, { name: 'reader', password: PASSWORD }, [policy('allow', 'cluster:read', 'node:id:*')]);
    const token = await api.login('reader', PASSWORD);
    const answer = await api.request('GET', '/cluster/local/config', { headers: { authorization: `Bearer ${token}` } });
    expect(answer.text).not.to.include(KEY);
    expect(answer.text).to.include('"key": "*****"');
  });

  it('answers for this node what the manager answers, and 3022 for others', async () => {
    writeFileSync(api.home.path('etc/manager.conf'), CLUSTER);
    const twins = paths().filter(({ path, method }) => path.includes('{node_id}') && method === 'GET');
    expect(twins).to.have.length(13);
    for (const { path, filled } of twins) {
      const twin = await api.call('GET', filled);
      const manager = await api.call('GET', filled.replace('/cluster/node01', '/manager'));
      lists.checker.check('GET', path, twin);
      expect([twin.status, twin.json()], path).to.deep.equal([manager.status, manager.json()]);
      // Only svc-clusterd could say that there is no such node.
      const other = await api.call('GET', filled.replace('node01', 'node02'));
      expect([other.status, (other.json() as { error: number }).error], path).to.deep.equal([500, 3022]);
    }
    const { message } = await lists.get('/cluster/node01/status', '/cluster/{node_id}/status');
    expect(message).to.equal('Processes status was successfully read in specified node');
  });

  it('takes a list of nodes, and names those that cannot be asked', async () => {
    writeFileSync(api.home.path('etc/manager.conf'), CLUSTER);
    const both = await lists.get('/cluster/api/config?nodes_list=node01,node02');
    expect(both).to.deep.include({ message: 'Not all API configurations could be read', error: 2 });
    expect(both.data.affected_items).to.deep.equal([{ node_name: 'node01', node_api_config: {} }]);
    expect(both.data.failed_items[0]).to.deep.nested.include({ 'error.code': 3022, id: ['node02'] });
    for (const [method, path, message] of [
      ['PUT', '/cluster/analysisd/reload', 'Could not send reload request to any node'],
      ['PUT', '/cluster/restart', 'Could not send restart request to any node'],
      ['GET', '/cluster/configuration/validation', 'Could not check validation in any node'],
    ] as const) {
      const status = path === '/cluster/restart' ? 202 : 200;
      const answer = await lists.call(method, `${path}?nodes_list=node02`, { status });
      expect(answer, path).to.deep.include({ message, error: 1 });
      expect(answer.data.failed_items[0]).to.deep.nested.include({ 'error.code': 3022, id: ['node02'] });
    }
    // This node is asked for real: there is no supervisor and no svc-analysisd here.
    const restart = await api.call('PUT', '/cluster/restart?nodes_list=node01');
    expect([restart.status, (restart.json() as { error: number }).error]).to.deep.equal([500, 1901]);
    const reload = await api.call('PUT', '/cluster/analysisd/reload?nodes_list=node01');
    expect([reload.status, (reload.json() as { error: number }).error]).to.deep.equal([500, 1017]);
  });
});
