import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { contextHash } from '../../../../api/auth/context-hash.js';
import { GOOD_PASSWORD, SecurityClient } from '../../../support/api/security-client.js';
import { TEST_PASSWORD, TestApi } from '../../../support/api/test-api.js';

type Claims = { readonly run_as: boolean; readonly rbac_roles: number[]; readonly hash_auth_context?: string };

describe('a login with a context', () => {
  let api: TestApi;
  let admin: SecurityClient;
  beforeEach(async () => {
    api = await new TestApi().start();
    admin = await SecurityClient.login(api);
    await admin.makeUser('portal');
    await admin.list('PUT', '/security/users/100/run_as?allow_run_as=true');
  });
  afterEach(() => api.remove());

  const claims = async (context: object, name = 'portal', password = GOOD_PASSWORD) =>
    jwt.decode((await SecurityClient.runAs(api, name, password, context)).token) as Claims;

  it('gives the roles whose rules are true of it, in the order of their ids', async () => {
    await admin.makeRule('reds', { MATCH: { teams: 'red' } });
    await admin.makeRule('leads', { FIND: { lead: true } });
    await admin.list('POST', '/security/roles/4/rules?rule_ids=100');
    await admin.list('POST', '/security/roles/2/rules?rule_ids=101,100');
    expect((await claims({ teams: ['red', 'blue'] })).rbac_roles).to.deep.equal([2, 4]);
    expect((await claims({ person: { lead: true } })).rbac_roles).to.deep.equal([2]);
    expect((await claims({ teams: ['blue'] })).rbac_roles).to.deep.equal([]);
  });

  it('without a true rule gives a token that may do nothing', async () => {
    const nobody = await SecurityClient.runAs(api, 'portal', GOOD_PASSWORD, { team: 'none' });
    expect((await nobody.call('GET', '/security/users/me')).status).to.equal(200);
    expect(await nobody.refused('GET', '/security/users?user_ids=1')).to.deep.equal([403, 4000]);
    expect((await nobody.list('GET', '/security/users')).data.total_affected_items).to.equal(0);
  });

  it('that is empty gives the roles of the user', async () => {
    await admin.list('POST', '/security/users/100/roles?role_ids=4,2');
    const empty = await claims({});
    expect(empty.rbac_roles).to.deep.equal([4, 2]);
    expect(empty.run_as).to.equal(true);
  });

  it('takes built-in rules for the user of dashboards only', async () => {
    const password = readFileSync(api.home.path('api/configuration/security/initial-wui-password'), 'utf8').trim();
    expect((await claims({ user_name: 'admin' }, 'wazuh-wui', password)).rbac_roles).to.deep.equal([1]);
    expect((await claims({ user_name: 'admin' }, 'admin', TEST_PASSWORD)).rbac_roles).to.deep.equal([]);
    expect((await claims({ user_name: 'admin' })).rbac_roles).to.deep.equal([]);
  });

  it('is told by its hash', async () => {
    const context = { user_name: 'maria', name: 'Zoë' };
    // Of Python: hashlib.blake2b(json.dumps(context).encode(), digest_size=16).hexdigest()
    expect(contextHash({})).to.equal('2afb9b83f9314e5d029766197f539792');
    const hash = '188889790d52480ca87261070e7759a8';
    expect((await claims(context)).hash_auth_context).to.equal(hash);
    const caller = await SecurityClient.runAs(api, 'portal', GOOD_PASSWORD, context);
    await caller.call('GET', '/security/users/me');
    const [plain, json] = ['api.log', 'api.json'].map((name) => readFileSync(api.home.path('logs', name), 'utf8'));
    expect(plain).to.include(`INFO: portal (${hash}) 127.0.0.1 "POST /security/user/authenticate/run_as"`);
    expect(plain).to.include(`INFO: portal (${hash}) 127.0.0.1 "GET /security/users/me"`);
    expect(json).to.include(`"hash_auth_context":"${hash}"`);
  });

  it('leaves a role out whose rule would have to look deeper than is looked', async () => {
    await admin.makeRule('deep', { FIND: { a: 'nowhere' } });
    await admin.makeRule('flat', { MATCH: { b: 1 } });
    await admin.list('POST', '/security/roles/2/rules?rule_ids=100');
    await admin.list('POST', '/security/roles/4/rules?rule_ids=101');
    let nested: object = { x: 1 };
    for (let level = 0; level < 12; level += 1) nested = { inside: nested };
    expect((await claims({ b: 1, nested })).rbac_roles).to.deep.equal([4]);
    expect(api.logger.lines.join('\n')).to.include(
      "Roles left out of a login with a context: 'readonly' (FIND looks 8 levels deep)",
    );
  });

  it('needs a body of at most 8192 bytes', async () => {
    const large = await SecurityClient.tryRunAs(api, 'portal', GOOD_PASSWORD, { a: 'x'.repeat(8200) });
    expect(large.status).to.equal(413);
  });
});
