import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { RbacMode } from '../../../api/rbac/permissions.js';
import type { PolicyBody } from '../../../api/rbac/rbac-model.js';
import type { ApiList } from '../../support/api/api-list.js';
import { ReferenceEvaluator } from '../../support/api/rbac/reference-evaluator.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';

const COUNT = 120;
const USER = { name: 'someone', password: 'Other-42-password' };

describe('agents a user may see and change', () => {
  let api: TestApi;
  let db: DbServer;
  let token: string;

  beforeEach(async () => {
    api = new TestApi();
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    db = await DbServer.start(api.home, () => api.now);
    await db.fill(COUNT);
  });
  afterEach(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  async function login(mode: RbacMode, policies: PolicyBody[]): Promise<void> {
    writeFileSync(api.home.path('api/configuration/security/security.yaml'), `rbac_mode: ${mode}\n`);
    await addUser(api, USER, policies);
    token = await api.login(USER.name, USER.password);
  }
  const call = async (method: string, path: string) => {
    const answer = await api.request(method, path, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, body: answer.json() as ApiList & { error: number; detail?: string } };
  };
  const ids = async (path: string) => {
    const { status, body } = await call('GET', path);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.data.affected_items.map(({ id }) => String(id));
  };
  const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);
  const denied = (resource: string) => `Permission denied: Resource type: ${resource}`;
  const groupsOf = (id: string) =>
    [...db.registry.agents.byId()].find(({ idText }) => idText === id)?.record.groups ?? [];

  const mixed = [
    policy('allow', 'agent:read', 'agent:group:site-0', 'agent:group:site-20', 'agent:id:007', 'agent:id:008'),
    policy('deny', 'agent:read', 'agent:group:site-20', 'agent:id:008'),
    policy('allow', 'agent:read', 'agent:id:009', 'agent:id:999'),
  ];
  for (const [mode, policies] of [
    ['white', mixed],
    ['black', mixed],
    ['white', [policy('allow', 'agent:read', 'agent:group:*'), ...mixed]],
    ['black', [policy('deny', 'agent:read', 'agent:id:*'), ...mixed]],
    [
      'black',
      [...mixed, policy('deny', 'agent:read', 'agent:group:default'), policy('allow', 'agent:read', 'agent:id:003')],
    ],
  ] as const) {
    it(`follow the policies: ${mode} mode, ${policies.map(({ effect, resources }) => `${effect} ${resources.join(' ')}`).join('; ')}`, async () => {
      await login(mode, [...policies]);
      const all = [...db.registry.agents.byId()].map(({ idText }) => idText);
      const evaluator = new ReferenceEvaluator(mode, policies, groupsOf);
      const expected = all.filter((id) => evaluator.may('agent:read', 'agent:id', id));
      const allowed = new Set(expected);
      expect(await ids('/agents?limit=1000&select=id')).to.deep.equal(expected);
      // Neither q nor search nor a named id leads to another one.
      expect(await ids('/agents?limit=1000&q=id>5,id<6')).to.deep.equal(expected);
      const { status, body } = await call('GET', '/agents?agents_list=001,007,008,009,0008,999');
      const wanted = ['001', '007', '008', '009'];
      if (status === 200) {
        expect(body.data.affected_items.map(({ id }) => id)).to.deep.equal(wanted.filter((id) => allowed.has(id)));
        const refused = body.data.failed_items.find(({ error }) => error.code === 4000);
        expect(refused?.id ?? []).to.include.members(wanted.filter((id) => !allowed.has(id)));
        expect(failures(body).find(([code]) => code === 1701)).to.include('999');
      } else {
        expect(body.error).to.equal(4000);
      }
      const summary = await call('GET', '/agents/summary/status');
      const { connection } = summary.body.data as unknown as { connection: { total: number } };
      expect(connection.total).to.equal(expected.filter((id) => id !== '000').length);
      const overview = await call('GET', '/overview/agents');
      expect(overview.body.data).to.have.nested.property('agent_status.connection.total', connection.total);
    });
  }

  it('are none without a policy: empty lists, and refusals of what is named', async () => {
    await login('white', []);
    const { status, body } = await call('GET', '/agents');
    expect(status).to.equal(200);
    expect(body).to.deep.include({ message: 'No agent information was returned', error: 0 });
    for (const [method, path, resource] of [
      ['GET', '/agents?agents_list=001,002', 'agent:id'],
      ['GET', '/agents/001/key', 'agent:id'],
      ['DELETE', '/agents?agents_list=001&status=all', 'agent:id'],
      ['PUT', '/agents/restart?agents_list=001', 'agent:id'],
      ['PUT', '/agents/reconnect?agents_list=999', 'agent:id'],
      ['PUT', '/agents/001/restart', 'agent:id'],
      ['PUT', '/agents/001/group/default', 'agent:id'],
      ['DELETE', '/agents/001/group', 'agent:id'],
      ['DELETE', '/agents/group?agents_list=001&group_id=default', 'agent:id'],
      ['POST', '/agents/insert/quick?agent_name=a1', '*:*'],
    ] as const) {
      const answer = await call(method, path);
      expect([answer.status, answer.body.error, answer.body.detail], path).to.deep.equal([403, 4000, denied(resource)]);
    }
    for (const path of ['/agents?agents_list=all&status=all', '/agents/group?agents_list=all&group_id=default']) {
      const answer = await call('DELETE', path);
      // The group of a path is a named resource, too.
      if (path.startsWith('/agents/group')) expect(answer.body.detail).to.equal(denied('group:id'));
      else expect(answer.body).to.deep.include({ message: 'No agents were deleted', error: 0 });
    }
    expect((await call('PUT', '/agents/restart')).body).to.include({ error: 0 });
  });

  it('leave only groups that the user may change', async () => {
    const actions = 'agent:modify_group,agent:read';
    await login('white', [
      policy('allow', actions, 'agent:id:*'),
      policy('allow', 'group:modify_assignments', 'group:id:site-0', 'group:id:site-1'),
    ]);
    const id = [...db.registry.agents.byId()].find(({ record }) => record.groups.includes('site-20'))!.idText;
    expect((await call('PUT', `/agents/${id}/group/site-20`)).body.detail).to.equal(denied('group:id'));
    // The agent would leave groups that the user may not change.
    const single = await call('PUT', `/agents/${id}/group/site-0?force_single_group=true`);
    expect(failures(single.body)).to.deep.equal([[1752, id]]);
    expect((await call('PUT', `/agents/${id}/group/site-0`)).body.error).to.equal(0);
    const left = await call('DELETE', `/agents/${id}/group`);
    expect(left.body.data).to.deep.include({ affected_items: ['site-0'], total_failed_items: 0 });
    const some = await call('DELETE', `/agents/${id}/group?groups_list=site-1,default`);
    expect(failures(some.body)).to.deep.equal([
      [1734, 'site-1'],
      [4000, 'default'],
    ]);
    expect((await call('DELETE', `/agents/${id}/group?groups_list=default`)).status).to.equal(403);
    expect((await call('GET', '/overview/agents')).body.data).to.deep.include({ groups: [] });
  });
});
