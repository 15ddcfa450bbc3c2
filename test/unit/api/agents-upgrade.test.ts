import { symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { HttpMethod } from '../../../lib/contract/api-contract.js';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';
import { ModulesdServer } from '../../support/modulesd/modulesd-server.js';

const NAME = 'wazuh_agent_v4.14.7_linux_amd64.deb.wpk';
const USER = { name: 'someone', password: 'Other-42-password' };
/** What the agents of this test are: 001 and 002 can be upgraded. */
const AGENTS = [
  { version: 'Wazuh v4.13.0' },
  { version: 'Wazuh v4.12.1' },
  { version: 'Wazuh v4.14.7' },
  { version: 'Wazuh v4.13.0', status: 'disconnected' as const },
  { version: 'Wazuh v4.13.0', os: { platform: 'aix', arch: 'powerpc' } },
  { version: 'Wazuh v4.13.0', os: { platform: 'rhel', arch: 'x86_64' } },
];

describe('upgrades of agents over the API', () => {
  let api: TestApi;
  let db: DbServer;
  let modulesd: ModulesdServer;
  let lists: ListCaller;

  beforeEach(async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    db = await DbServer.start(api.home, () => api.now);
    await db.registry.edit((edit) => {
      for (const [index, agent] of AGENTS.entries()) {
        edit.setAgent(index + 1, {
          ...{ name: `box${index + 1}`, registerIP: 'any', dateAdd: 1, groups: ['default'], nodeName: 'node01' },
          ...{ status: 'active', statusCode: 0, disconnectionTime: 0, os: { platform: 'ubuntu', arch: 'x86_64' } },
          ...agent,
        });
      }
    });
    modulesd = await ModulesdServer.start(api.home, () => api.now);
    writeFileSync(api.home.path('var', 'upgrade', NAME), 'a package');
    lists = new ListCaller(api);
  });
  afterEach(async () => {
    await modulesd.stop();
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const put = (query: string, custom = '') =>
    lists.call('PUT', `/agents/upgrade${custom}?${query}`, { template: `/agents/upgrade${custom}` });
  const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);
  const problem = async (method: HttpMethod, path: string) => {
    const answer = await api.call(method, path);
    lists.checker.check(method, path.split('?')[0] ?? '', answer);
    return [answer.status, (answer.json() as { error?: number }).error];
  };

  it('are tasks for those that can be, and one failure for each of the others', async () => {
    const answer = await put('agents_list=001,002,003,004,005,006,000,099');
    expect(answer.message).to.equal('Some upgrade tasks were not created');
    expect(answer.data.affected_items).to.deep.equal([
      { agent: '001', task_id: 1 },
      { agent: '002', task_id: 2 },
    ]);
    expect(failures(answer)).to.deep.equal([
      ...[
        [1701, '099'],
        [1703, '000'],
        [1707, '004'],
        [1819, '005'],
        [1822, '003'],
        [1825, '006'],
      ],
    ]);
    const missing = answer.data.failed_items.at(-1)?.error.message;
    expect(missing).to.match(/put wazuh_agent_v4\.14\.7_linux_x86_64\.rpm\.wpk into var\/upgrade of the manager$/);

    const again = await put('agents_list=001');
    expect([again.message, failures(again)]).to.deep.equal(['No upgrade task was created', [[1820, '001']]]);
    expect(again.error).to.equal(1);
  });

  it('of all agents leave out those that are not connected or not meant', async () => {
    const answer = await put('agents_list=all&q=id<4&upgrade_version=4.14.7&wpk_repo=example.com/wpk/&use_http=true');
    expect(answer.data.affected_items.map(({ agent }) => agent)).to.deep.equal(['001', '002']);
    expect(failures(answer)).to.deep.equal([[1822, '003']]);
    const filtered = await put('agents_list=001,006&os.platform=rhel&package_type=deb');
    expect(filtered.data.affected_items).to.deep.equal([{ agent: '006', task_id: 3 }]);
    expect(filtered.data.failed_items[0]?.error.message).to.equal(
      'Agent is not eligible for the action to be performed: some of the requirements are not met -> os.platform: rhel',
    );
  });

  it('with a package of their own take it from var/upgrade alone', async () => {
    writeFileSync(api.home.path('var', 'upgrade', 'own.wpk'), 'a package');
    for (const [index, path] of ['var/upgrade/own.wpk', api.home.path('var/upgrade/own.wpk'), 'own.wpk'].entries()) {
      const answer = await put(`agents_list=00${index + 1}&installer=own.sh&file_path=${path}`, '_custom');
      expect(answer.message).to.equal('All upgrade tasks were created');
      expect(modulesd.tasks.get(index + 1)?.work).to.deep.include({ path: 'own.wpk', installer: 'own.sh' });
    }
    symlinkSync(api.home.path('etc', 'manager.conf'), api.home.path('var', 'upgrade', 'link.wpk'));
    const refused = (path: string) => problem('PUT', `/agents/upgrade_custom?agents_list=001&file_path=${path}`);
    expect(await refused('none.wpk')).to.deep.equal([400, 1826]);
    expect(await refused('etc/none.wpk')).to.deep.equal([400, 1826]);
    expect(await refused('link.wpk')).to.deep.equal([400, 1826]);
    for (const path of ['../x.wpk', '/etc/x.wpk', 'var/upgrade/.wpk', 'own.deb', '']) {
      expect((await refused(path))[0], path).to.equal(400);
    }
  });

  it('to a version above that of the manager need force', async () => {
    writeFileSync(api.home.path('var', 'upgrade', NAME.replace('4.14.7', '4.15.0')), 'a package');
    expect(await problem('PUT', '/agents/upgrade?agents_list=001&upgrade_version=v4.15.0')).to.deep.equal([400, 1823]);
    const forced = await put('agents_list=001&upgrade_version=v4.15.0&force=true');
    expect(forced.data.affected_items).to.deep.equal([{ agent: '001', task_id: 1 }]);
  });

  it('tell how they went', async () => {
    await put('agents_list=001,002');
    await modulesd.tasks.change(1, { status: 'Done', updated: Math.floor(api.now / 1000) + 5 });
    await modulesd.tasks.change(2, { status: 'Failed', error: 'no space' });
    const answer = await lists.get('/agents/upgrade_result?agents_list=001,002,003', '/agents/upgrade_result');
    expect(answer.message).to.equal('Some upgrade tasks were not returned');
    expect(failures(answer)).to.deep.equal([[1813, '003']]);
    const common = { message: 'Success', node: 'node01', module: 'upgrade_module', command: 'upgrade' };
    const created = { create_time: '2026-05-08T12:34:19Z', update_time: '2026-05-08T12:34:19Z' };
    expect(answer.data.affected_items).to.deep.equal([
      { ...common, ...created, agent: '001', task_id: 1, status: 'Updated', update_time: '2026-05-08T12:34:24Z' },
      { ...common, ...created, agent: '002', task_id: 2, status: 'Error', error_msg: 'no space' },
    ]);
    const all = await lists.get('/agents/upgrade_result?version=4.13.0', '/agents/upgrade_result');
    expect([all.message, all.data.total_affected_items]).to.deep.equal(['All upgrade tasks were returned', 1]);
    const states = async () => {
      const { data } = await lists.get('/agents/upgrade_result', '/agents/upgrade_result');
      return data.affected_items.map(({ status }) => String(status).split(':')[0]);
    };
    await modulesd.tasks.change(1, { status: 'Pending' });
    await modulesd.tasks.change(2, { status: 'In progress' });
    expect(await states()).to.deep.equal(['In queue', 'Updating']);
    await modulesd.tasks.change(1, { status: 'Timeout' });
    await modulesd.tasks.change(2, { status: 'Legacy' });
    expect(await states()).to.deep.equal(['Timeout', 'Legacy upgrade']);
  });

  it('are tasks that can be listed, filtered, sorted and selected from', async () => {
    const get = (query: string) => lists.get(`/tasks/status?${query}`, '/tasks/status');
    const ids = async (query: string) => (await get(query)).data.affected_items.map(({ task_id }) => task_id);
    expect(await get('status=In+progress&command=upgrade')).to.deep.include({
      message: 'No status was returned',
      error: 0,
    });
    await put('agents_list=001,002');
    await modulesd.tasks.change(2, { status: 'In progress' });
    const answer = await get('status=In+progress&command=upgrade');
    expect(answer.message).to.equal("All specified task's status were returned");
    expect(answer.data.affected_items).to.deep.equal([
      {
        ...{ task_id: 2, agent_id: '002', node: 'node01', module: 'upgrade_module', command: 'upgrade' },
        ...{ create_time: '2026-05-08T12:34:19Z', last_update_time: '2026-05-08T12:34:19Z' },
        ...{ status: 'In progress', error_message: '' },
      },
    ]);
    expect(await ids('')).to.deep.equal([1, 2]);
    expect(await ids('sort=-task_id&limit=1')).to.deep.equal([2]);
    expect(await ids('agents_list=001')).to.deep.equal([1]);
    expect(await ids('tasks_list=2,7&node=node01&module=upgrade_module')).to.deep.equal([2]);
    expect(await ids(`tasks_list=${'9'.repeat(400)}&agents_list=${'9'.repeat(400)}`)).to.deep.equal([]);
    expect(await ids('q=status=Pending')).to.deep.equal([1]);
    expect(await ids('search=progress')).to.deep.equal([2]);
    const selected = await get('select=status&limit=1');
    expect(selected.data).to.deep.include({ affected_items: [{ status: 'Pending' }], total_affected_items: 2 });
    expect((await api.call('GET', '/tasks/status?select=nothing')).status).to.equal(400);
  });

  it('are for those that may, and so is the question whether agents may be uninstalled', async () => {
    const uninstall = await api.call('GET', '/agents/uninstall');
    lists.checker.check('GET', '/agents/uninstall', uninstall);
    expect(uninstall.json()).to.deep.equal({ message: 'User has permission to uninstall agents', error: 0 });
    await put('agents_list=002');
    await modulesd.stop();
    await addUser(api, USER, [policy('allow', 'agent:upgrade', 'agent:id:001')]);
    modulesd = await ModulesdServer.start(api.home, () => api.now);
    const token = await api.login(USER.name, USER.password);
    const call = async (method: string, path: string) => {
      const answer = await api.request(method, path, { headers: { authorization: `Bearer ${token}` } });
      return { status: answer.status, body: answer.json() as ApiList };
    };
    for (const path of ['/agents/uninstall', '/tasks/status', '/agents/upgrade_result?agents_list=002']) {
      expect(await call('GET', path).then(({ status, body }) => [status, body.error]), path).to.deep.equal([403, 4000]);
    }
    expect((await call('PUT', '/agents/upgrade?agents_list=002')).status).to.equal(403);
    const some = await call('PUT', '/agents/upgrade?agents_list=001,002');
    expect(some.body.data.affected_items).to.deep.equal([{ agent: '001', task_id: 2 }]);
    expect(failures(some.body)).to.deep.equal([[4000, '002']]);
    const all = await call('GET', '/agents/upgrade_result');
    expect(all.body.data.affected_items.map(({ agent }) => agent)).to.deep.equal(['001']);
  });

  it('need svc-modulesd', async () => {
    await modulesd.stop();
    for (const [method, path] of [
      ['PUT', '/agents/upgrade?agents_list=001'],
      ['GET', '/agents/upgrade_result'],
      ['GET', '/tasks/status'],
    ] as const) {
      expect(await problem(method, path), path).to.deep.equal([500, 1017]);
    }
    modulesd = await ModulesdServer.start(api.home, () => api.now);
  });
});
