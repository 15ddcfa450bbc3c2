import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { RbacMode } from '../../../api/rbac/permissions.js';
import type { PolicyBody } from '../../../api/rbac/rbac-model.js';
import type { ApiList } from '../../support/api/api-list.js';
import { addUser, policy } from '../../support/api/rbac-user.js';
import { TestApi } from '../../support/api/test-api.js';
import { DbServer } from '../../support/db/db-server.js';
import { sampleAgent } from '../../support/db/sample-agents.js';

const USER = { name: 'someone', password: 'Other-42-password' };
const GROUPS = ['db', 'mail', 'web'];

describe('groups a user may see and change', () => {
  let api: TestApi;
  let db: DbServer;
  let token: string;

  beforeEach(async () => {
    api = new TestApi();
    await api.start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
    db = await DbServer.start(api.home, () => api.now);
    await db.groups(...GROUPS);
    for (const group of [...GROUPS, 'default']) {
      mkdirSync(api.home.path('etc/shared', group), { recursive: true });
      writeFileSync(api.home.path('etc/shared', group, 'agent.conf'), '<agent_config/>');
    }
    await db.registry.edit((edit) => {
      for (const [index, groups] of [['web'], ['web', 'db'], ['mail']].entries()) {
        edit.setAgent(index + 1, { ...sampleAgent(index + 1).record, groups });
      }
    });
  });
  afterEach(async () => {
    await api.stop();
    await db.stop();
    await api.remove();
  });

  async function login(mode: RbacMode, ...policies: PolicyBody[]): Promise<void> {
    writeFileSync(api.home.path('api/configuration/security/security.yaml'), `rbac_mode: ${mode}\n`);
    await addUser(api, USER, policies);
    token = await api.login(USER.name, USER.password);
  }
  const call = async (method: string, path: string, body?: string, type = 'application/json') => {
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': type }) };
    const answer = await api.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
    return { status: answer.status, body: answer.json() as ApiList & { error: number; detail?: string } };
  };
  const names = ({ data }: ApiList) => data.affected_items.map(({ name }) => name);
  const failures = ({ data }: ApiList) => data.failed_items.map(({ error, id }) => [error.code, ...id]);
  const expectDenied = async (resource: string, ...request: Parameters<typeof call>) => {
    const { status, body } = await call(...request);
    expect([status, body.error, body.detail], request.join(' ')).to.deep.equal([
      403,
      4000,
      `Permission denied: Resource type: ${resource}`,
    ]);
  };

  for (const [mode, policies, visible] of [
    ['white', [policy('allow', 'group:read', 'group:id:web', 'group:id:other')], ['web']],
    [
      'white',
      [policy('allow', 'group:read', 'group:id:*'), policy('deny', 'group:read', 'group:id:db')],
      ['default', 'mail', 'web'],
    ],
    ['black', [policy('deny', 'group:read', 'group:id:web')], ['db', 'default', 'mail']],
  ] as const) {
    it(`are shown in ${mode} mode: ${visible.join(', ')}`, async () => {
      await login(mode, ...policies);
      const hidden = ['default', ...GROUPS].filter((group) => !(visible as readonly string[]).includes(group));
      const all = await call('GET', '/groups');
      expect(names(all.body)).to.deep.equal(visible);
      expect(all.body).to.include({ error: 0 });
      // No parameter leads to another one.
      for (const query of ['search=e', 'q=count>=0', 'q=name~e', 'select=name', 'sort=-count']) {
        for (const name of names((await call('GET', `/groups?${query}`)).body ?? { data: { affected_items: [] } })) {
          expect(visible).to.include(name);
        }
      }
      const named = await call('GET', `/groups?groups_list=${[...visible, ...hidden].join(',')}`);
      expect(names(named.body)).to.deep.equal(visible);
      expect(named.body).to.include({ error: 2 });
      expect(failures(named.body)).to.deep.equal([[4000, ...hidden.sort()]]);
      await expectDenied('group:id', 'GET', `/groups?groups_list=${hidden.join(',')}`);
      for (const path of ['configuration', 'files', 'files/agent.conf', 'files/agent.conf?raw=true', 'agents']) {
        for (const group of hidden) await expectDenied('group:id', 'GET', `/groups/${group}/${path}`);
        if (path !== 'agents') {
          expect((await call('GET', `/groups/${visible[0]}/${path.replace('?raw=true', '')}`)).status).to.equal(200);
        }
      }
      const overview = await call('GET', '/overview/agents');
      expect(
        (overview.body.data as unknown as { groups: { name: string }[] }).groups.map(({ name }) => name),
      ).to.deep.equal(visible);
    });
  }

  it('are none for who may see none: an empty list, no refusal', async () => {
    await login('white', policy('allow', 'agent:read', 'agent:id:*'));
    const { status, body } = await call('GET', '/groups');
    expect([status, body.error, body.message, body.data.total_affected_items]).to.deep.equal([
      200,
      0,
      'No group information was returned',
      0,
    ]);
    const removed = await call('DELETE', '/groups?groups_list=all');
    expect([removed.status, removed.body.error, removed.body.message]).to.deep.equal([200, 0, 'No group was deleted']);
    await expectDenied('group:id', 'DELETE', '/groups?groups_list=web');
    await expectDenied('*:*', 'POST', '/groups', '{"group_id":"new"}');
    expect(existsSync(api.home.path('etc/shared/new'))).to.equal(false);
  });

  it('show those of their agents that may be seen', async () => {
    await login('white', policy('allow', 'group:read', 'group:id:*'), policy('allow', 'agent:read', 'agent:group:db'));
    const ids = async (group: string) =>
      (await call('GET', `/groups/${group}/agents`)).body.data.affected_items.map(({ id }) => id);
    expect(await ids('web')).to.deep.equal(['002']);
    expect(await ids('mail')).to.deep.equal([]);
  });

  it('are left as far as allowed', async () => {
    await login('white', policy('allow', 'agent:modify_group', 'agent:id:*'));
    await expectDenied('group:id', 'DELETE', '/agents/002/group?groups_list=web');
    const none = await call('DELETE', '/agents/002/group');
    expect([none.status, none.body.error, none.body.message]).to.deep.equal([
      200,
      0,
      'Specified agent was not removed from any group',
    ]);
    await login(
      'white',
      policy('allow', 'agent:modify_group', 'agent:id:*'),
      policy('allow', 'group:modify_assignments', 'group:id:web'),
    );
    const some = await call('DELETE', '/agents/002/group');
    expect([some.body.data.affected_items, some.body.error]).to.deep.equal([['web'], 0]);
    expect(db.registry.agents.get(2)!.record.groups).to.deep.equal(['db']);
  });

  it('are deleted as far as allowed', async () => {
    await login('white', policy('allow', 'group:delete', 'group:id:web', 'group:id:default', 'group:id:mail'));
    const some = await call('DELETE', '/groups?groups_list=web,db,default');
    expect(some.body.data.affected_items).to.deep.equal(['web']);
    expect(failures(some.body)).to.deep.equal([
      [1712, 'default'],
      [4000, 'db'],
    ]);
    const all = await call('DELETE', '/groups?groups_list=all');
    expect(all.body.data.affected_items).to.deep.equal(['mail']);
    expect(all.body).to.include({ error: 0 });
    expect(existsSync(api.home.path('etc/shared/db'))).to.equal(true);
  });

  it('are configured and created as far as allowed', async () => {
    const conf = '<agent_config name="x"/>';
    await login(
      'white',
      policy('allow', 'group:update_config', 'group:id:web'),
      policy('allow', 'group:create', '*:*:*'),
    );
    expect((await call('PUT', '/groups/web/configuration', conf, 'application/xml')).status).to.equal(200);
    await expectDenied('group:id', 'PUT', '/groups/db/configuration', conf, 'application/xml');
    expect((await call('PUT', '/groups/web/configuration/validation', conf, 'application/xml')).status).to.equal(200);
    await expectDenied('group:id', 'PUT', '/groups/db/configuration/validation', conf, 'application/xml');
    // Who may not change a group does not learn whether it exists.
    await expectDenied('group:id', 'PUT', '/groups/nobody/configuration', conf, 'application/xml');
    expect(readFileSync(api.home.path('etc/shared/db/agent.conf'), 'utf8')).to.equal('<agent_config/>');
    expect((await call('POST', '/groups', '{"group_id":"new"}')).status).to.equal(200);
  });
});
