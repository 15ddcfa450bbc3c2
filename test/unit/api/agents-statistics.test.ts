import { expect } from 'chai';
import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { type ApiList, ListCaller } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { serveContract } from '../../support/bus/serve-contract.js';
import { DbServer } from '../../support/db/db-server.js';

const TEMPLATE = '/agents/{agent_id}/daemons/stats';
const PASSWORD = 'Correct-42-horse';

describe('counters of daemons about an agent', () => {
  let api: TestApi;
  let db: DbServer;
  let lists: ListCaller;
  beforeEach(async () => {
    api = await new TestApi().start();
    db = await DbServer.start(api.home, () => api.now);
    await db.fill(60);
    await db.registry.edit((edit) => {
      edit.setAgent(1, { ...db.registry.agents.get(1)!.record, status: 'active' });
      edit.setAgent(2, { ...db.registry.agents.get(2)!.record, status: 'disconnected' });
    });
    lists = new ListCaller(api);
  });
  afterEach(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  const stats = (id: string, query = '') => lists.get(`/agents/${id}/daemons/stats${query}`, TEMPLATE);
  const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);
  const counting = (count: number) => ({
    'statistics.agents': ({ ids }: { ids: string[] }) => ({
      timestamp: 1_749_110_401,
      uptime: 1_749_106_800,
      agents: ids.map((id) => ({ id, metrics: { count } })),
    }),
  });

  it('are asked of each daemon that is wanted', async () => {
    const analysisd = await serveContract(api.home, analysisdContract, counting(3));
    const remoted = await serveContract(api.home, remotedContract, counting(5));
    const item = (name: string, count: number) => ({
      name,
      timestamp: '2025-06-05T08:00:01+00:00',
      agents: [{ id: 1, uptime: '2025-06-05T07:00:00+00:00', metrics: { count } }],
    });
    try {
      const both = await stats('001');
      expect(both).to.deep.include({
        message: 'Statistical information for each daemon was successfully read',
        error: 0,
      });
      expect(both.data.affected_items).to.deep.equal([item('svc-analysisd', 3), item('svc-remoted', 5)]);
      const one = await stats('001', '?daemons_list=wazuh-remoted');
      expect(one.data.affected_items).to.deep.equal([item('svc-remoted', 5)]);
    } finally {
      await remoted.stop();
      await analysisd.stop();
    }
  });

  it('name daemons that do not answer, and agents of which there are none', async () => {
    const remoted = await serveContract(api.home, remotedContract, counting(1));
    try {
      const some = await stats('001');
      expect(some).to.deep.include({ message: 'Could not read statistical information for some daemons', error: 2 });
      expect(failures(some)).to.deep.equal([[1121, 'svc-analysisd']]);
      for (const [id, code] of [
        ['000', 1703],
        ['002', 1707],
        ['999', 1701],
      ] as const) {
        const none = await stats(id);
        expect(none, id).to.deep.include({
          message: 'Could not read statistical information for any daemon',
          error: 1,
        });
        expect(failures(none)).to.deep.equal([[code, id]]);
      }
    } finally {
      await remoted.stop();
    }
    expect((await api.call('GET', '/agents/001/daemons/stats?daemons_list=svc-db')).status).to.equal(400);
  });

  it('are for those who may read the agent', async () => {
    await addUser(api, { name: 'reader', password: PASSWORD }, [policy('allow', 'agent:read', 'agent:id:002')]);
    const authorization = `Bearer ${await api.login('reader', PASSWORD)}`;
    const answer = await api.request('GET', '/agents/001/daemons/stats', { headers: { authorization } });
    expect([answer.status, (answer.json() as { error: number }).error]).to.deep.equal([403, 4000]);
  });
});
