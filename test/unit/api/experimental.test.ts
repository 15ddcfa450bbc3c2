import { expect } from 'chai';
import type { ApiSettings } from '../../../api/api-settings.js';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TEST_SETTINGS, TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';

const PASSWORD = 'Correct-42-horse';
const FINDING = "Rootkit 'Demo' detected by the presence of file '/tmp/demo'.";
const ON: Partial<ApiSettings> = {
  experimentalFeatures: true,
  access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 },
};

describe('experimental operations', () => {
  let api: TestApi;
  let db: DbServer;
  let lists: ListCaller;
  beforeEach(async () => {
    api = await new TestApi().start(ON);
    db = await DbServer.start(api.home, () => api.now);
    await db.fill(60);
    lists = new ListCaller(api);
  });
  afterEach(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const paths = () => lists.checker.operations.filter(({ path }) => path.startsWith('/experimental/'));
  const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);
  /** Two agents with a finding each. */
  const fill = async () => {
    const operations = ['001', '002'].map((agent, index) => ({
      position: index,
      agent,
      kind: 'rootcheck' as const,
      at: api.now,
      message: Buffer.from(FINDING),
    }));
    await db.stores.files.apply({ journal: 'one', operations, upTo: operations.length });
    await db.registry.edit((edit) => {
      for (const id of [1, 2]) edit.setAgent(id, { ...db.registry.agents.get(id)!.record, status: 'active' });
    });
  };
  const findings = async (id: string) =>
    (await lists.get(`/rootcheck/${id}`, '/rootcheck/{agent_id}')).data.total_affected_items;

  it('are refused with 1122 while they are off, after the parameters and before anything else', async () => {
    expect(paths()).to.have.length(12);
    await api.stop();
    await api.open({ ...TEST_SETTINGS, ...ON, experimentalFeatures: false });
    api.forgetToken();
    for (const { method, path, experimental } of paths()) {
      expect(experimental, path).to.equal(true);
      const target = method === 'DELETE' ? `${path}?agents_list=all` : path;
      const answer = await api.call(method, target);
      lists.checker.check(method, path, answer);
      expect([answer.status, (answer.json() as { error: number }).error], path).to.deep.equal([404, 1122]);
      expect((await api.call(method, `${path}?agents_list=x`)).status, path).to.equal(400);
      expect((await api.request(method, target)).status, path).to.equal(401);
    }
  });

  it('forget findings of named agents, and of all', async () => {
    await fill();
    const some = await lists.call('DELETE', '/experimental/rootcheck?agents_list=001,999');
    expect(some).to.deep.include({ message: 'Rootcheck database was not cleared on some agents', error: 2 });
    expect(some.data.affected_items).to.deep.equal(['001']);
    expect(failures(some)).to.deep.equal([[1701, '999']]);
    expect([await findings('001'), await findings('002')]).to.deep.equal([0, 1]);
    const all = await lists.call('DELETE', '/experimental/rootcheck?agents_list=all');
    expect(all).to.deep.include({ message: 'Rootcheck database was cleared on returned agents', error: 0 });
    expect(all.data.total_affected_items).to.equal(db.registry.agents.byId().length);
    expect(await findings('002')).to.equal(0);
  });

  it('forget files of agents that are old enough', async () => {
    await db.registry.edit((edit) => {
      edit.setAgent(1, { ...db.registry.agents.get(1)!.record, version: 'Wazuh v3.11.4' });
      edit.setAgent(2, { ...db.registry.agents.get(2)!.record, version: 'Wazuh v4.14.0' });
    });
    const answer = await lists.call('DELETE', '/experimental/syscheck?agents_list=001,002');
    expect(answer).to.deep.include({ message: 'Syscheck database was not cleared on some agents', error: 2 });
    expect(answer.data.affected_items).to.deep.equal(['001']);
    expect(failures(answer)).to.deep.equal([[1760, '002']]);
  });

  it('reach nobody whom the caller may not reach', async () => {
    await fill();
    await addUser(api, { name: 'cleaner', password: PASSWORD }, [policy('allow', 'rootcheck:clear', 'agent:id:002')]);
    await api.stop();
    await api.open(ON);
    const headers = { authorization: `Bearer ${await api.login('cleaner', PASSWORD)}` };
    const clear = async (ids: string) =>
      api.request('DELETE', `/experimental/rootcheck?agents_list=${ids}`, { headers });
    expect((await clear('001')).status).to.equal(403);
    expect(((await clear('all')).json() as ApiList).data.affected_items).to.deep.equal(['002']);
    api.forgetToken();
    expect([await findings('001'), await findings('002')]).to.deep.equal([1, 0]);
  });

  it('have no CIS-CAT results, of agents that there are', async () => {
    const empty = { message: 'No CISCAT results were returned', error: 0 };
    const template = '/ciscat/{agent_id}/results';
    expect(await lists.get('/ciscat/001/results?pass=3&benchmark=x&q=score>1', template)).to.deep.include(empty);
    const unknown = await lists.get('/ciscat/999/results', template);
    expect([unknown.error, failures(unknown)]).to.deep.equal([1, [[1701, '999']]]);
    expect(await lists.get('/experimental/ciscat/results')).to.deep.include(empty);
    expect(failures(await lists.get('/experimental/ciscat/results?agents_list=001,999'))).to.deep.equal([
      [1701, '999'],
    ]);
  });
});
