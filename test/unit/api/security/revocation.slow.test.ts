import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { GOOD_PASSWORD, SecurityClient } from '../../../support/api/security-client.js';
import { TestApi } from '../../../support/api/test-api.js';

describe('tokens after a change', () => {
  let api: TestApi;
  let admin: SecurityClient;
  beforeEach(async () => {
    api = await new TestApi().start();
    admin = await SecurityClient.login(api);
  });
  afterEach(() => api.remove());

  const lives = async (client: SecurityClient) => (await client.call('GET', '/security/users/me')).status === 200;
  const maria = () => SecurityClient.login(api, 'maria', GOOD_PASSWORD);

  /** What is done, and whose tokens end by it. */
  const CHANGES: Record<string, (admin: SecurityClient) => Promise<unknown>> = {
    'a new password': (by) => by.list('PUT', '/security/users/100', { password: 'Third-42-password' }),
    'permission to log in with a context': (by) => by.list('PUT', '/security/users/100/run_as?allow_run_as=true'),
    'another role': (by) => by.list('POST', '/security/users/100/roles?role_ids=2'),
    'a role less': (by) => by.list('DELETE', '/security/users/100/roles?role_ids=100'),
    'the end of the user': (by) => by.list('DELETE', '/security/users?user_ids=100'),
    'another name of a role': (by) => by.list('PUT', '/security/roles/100', { name: 'renamed' }),
    'the end of a role': (by) => by.list('DELETE', '/security/roles?role_ids=100'),
    'another policy of a role': (by) => by.list('POST', '/security/roles/100/policies?policy_ids=4'),
    'a policy less of a role': (by) => by.list('DELETE', '/security/roles/100/policies?policy_ids=100'),
    'a changed policy': (by) => by.list('PUT', '/security/policies/100', { name: 'renamed' }),
    'the end of a policy': (by) => by.list('DELETE', '/security/policies?policy_ids=100'),
    'a changed security rule of a role': async (by) => {
      await by.list('PUT', '/security/rules/100', { name: 'renamed' });
    },
    'the end of a security rule of a role': (by) => by.list('DELETE', '/security/rules?rule_ids=100'),
  };

  for (const [name, change] of Object.entries(CHANGES)) {
    it(`are refused after ${name}, those of others and new ones are not`, async () => {
      await admin.makeUserWith('maria', ['security:read'], ['user:id:*']);
      await admin.makeRule('rule', { FIND: { a: 'b' } });
      await admin.list('POST', '/security/roles/100/rules?rule_ids=100');
      const other = await admin.makeUserWith('other', ['security:read'], ['role:id:*']);
      const token = await maria();
      expect(await lives(token)).to.equal(true);
      await change(admin);
      expect(await lives(token)).to.equal(false);
      expect(await lives(other)).to.equal(true);
      expect(await lives(admin)).to.equal(true);
      await api.stop();
      await api.open();
      expect(await lives(token)).to.equal(false);
      expect(await lives(other)).to.equal(true);
    });
  }

  it('with a context are refused when rules are linked or unlinked, and when a role that they gave changes', async () => {
    await admin.makeUser('maria');
    await admin.list('PUT', '/security/users/100/run_as?allow_run_as=true');
    await admin.makeRole('given');
    await admin.makeRule('rule', { MATCH: { team: 'red' } });
    await admin.list('POST', '/security/roles/100/rules?rule_ids=100');
    const run = () => SecurityClient.runAs(api, 'maria', GOOD_PASSWORD, { team: 'red' });
    const usual = await maria();
    for (const change of [
      () => admin.list('POST', '/security/roles/2/rules?rule_ids=100'),
      () => admin.list('DELETE', '/security/roles/2/rules?rule_ids=100'),
      () => admin.list('POST', '/security/roles/100/policies?policy_ids=4'),
      () => admin.list('PUT', '/security/rules/100', { rule: { MATCH: { team: 'red', a: 1 } } }),
    ]) {
      const token = await run();
      expect(await lives(token)).to.equal(true);
      await change();
      expect(await lives(token)).to.equal(false);
    }
    expect(await lives(usual)).to.equal(true);
  });

  it('of one who was removed are not those of another who got the name later', async () => {
    const roleOf = (id: number) => admin.list('POST', `/security/users/${id}/roles?role_ids=2`);
    await admin.makeUser('maria');
    await roleOf(100);
    const token = await maria();
    expect(await lives(token)).to.equal(true);
    await admin.list('DELETE', '/security/users?user_ids=100');
    await admin.makeUser('other');
    const again = await admin.makeUser('maria');
    await roleOf(again);
    expect(await lives(token)).to.equal(false);
    expect(await lives(await maria())).to.equal(true);
  });

  it('are all refused after a revocation, and after a change of the settings', async () => {
    const revoked = await admin.call('PUT', '/security/user/revoke');
    expect(revoked.text).to.equal('{"message": "Tokens were successfully revoked", "error": 0}');
    expect(await lives(admin)).to.equal(false);

    admin = await SecurityClient.login(api);
    const changed = await admin.call('PUT', '/security/config', { auth_token_exp_timeout: 60 });
    expect(changed.text).to.equal('{"message": "Configuration was successfully updated", "error": 0}');
    expect(await lives(admin)).to.equal(false);
    admin = await SecurityClient.login(api);
    const { exp, nbf } = jwt.decode(admin.token) as { exp: number; nbf: number };
    expect(exp - nbf).to.equal(60);
    const shown = async () => ((await admin.call('GET', '/security/config')).json() as { data: object }).data;
    expect(await shown()).to.deep.equal({ auth_token_exp_timeout: 60, rbac_mode: 'white' });

    // What is left out has its default again.
    await admin.call('PUT', '/security/config', { rbac_mode: 'black' });
    expect(readFileSync(api.home.path('api/configuration/security/security.yaml'), 'utf8')).to.equal(
      'rbac_mode: black\n',
    );
    admin = await SecurityClient.login(api);
    expect(await shown()).to.deep.equal({ auth_token_exp_timeout: 900, rbac_mode: 'black' });
    expect(await admin.refused('PUT', '/security/config', {})).to.deep.equal([400, undefined]);
    for (const seconds of [29, 2 ** 31, 1e21]) {
      const answer = await admin.refused('PUT', '/security/config', { auth_token_exp_timeout: seconds });
      expect(answer, String(seconds)).to.deep.equal([400, undefined]);
    }

    await admin.call('DELETE', '/security/config');
    admin = await SecurityClient.login(api);
    expect(await shown()).to.deep.equal({ auth_token_exp_timeout: 900, rbac_mode: 'white' });
  });

  it('are good again after a renewal of the key that was killed between its two files', async () => {
    const file = (name: string) => api.home.path('api/configuration/security', name);
    const before = readFileSync(file('public_key.pem'), 'utf8');
    await admin.call('PUT', '/security/user/revoke');
    await api.stop();
    const renewed = readFileSync(file('public_key.pem'), 'utf8');
    writeFileSync(file('public_key.pem'), before);
    await api.open();
    expect(await lives(admin)).to.equal(false);
    expect(await lives(await SecurityClient.login(api))).to.equal(true);
    expect(readFileSync(file('public_key.pem'), 'utf8')).to.equal(renewed);
  });

  it('are refused when they were good at the beginning of a request whose body took its time', async () => {
    await admin.makeUserWith('maria', ['logtest:run', 'agent:create'], ['*:*:*']);
    const token = await api.login('maria', GOOD_PASSWORD);
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    };
    const slow = request({ host: '127.0.0.1', port: api.port, method: 'PUT', path: '/logtest', headers });
    const answered = once(slow, 'response') as Promise<[IncomingMessage]>;
    slow.write('{"event": "x", ');
    // An answer over the same kind of connection: the beginning of the slow request is there by then.
    await admin.list('PUT', '/security/users/100', { password: 'Third-42-password' });
    slow.end('"log_format": "syslog", "location": "x"}');
    const [answer] = await answered;
    answer.resume();
    expect(answer.statusCode).to.equal(401);
  });

  it('of the black mode allow what no policy denies', async () => {
    await admin.makeUserWith('maria', ['security:read'], ['user:id:*']);
    await admin.makePolicy('not-these', ['security:read'], ['user:id:1'], 'deny');
    await admin.list('POST', '/security/roles/100/policies?policy_ids=101');
    await admin.call('PUT', '/security/config', { rbac_mode: 'black' });
    const user = await maria();
    const shown = await user.list('GET', '/security/users');
    expect(shown.data.affected_items.map(({ id }) => id)).to.deep.equal([2, 100]);
    expect((await user.list('GET', '/security/roles')).data.total_affected_items).to.equal(8);
    const me = (await user.call('GET', '/security/users/me/policies')).json() as { data: object; message: string };
    expect(me.message).to.equal('Current user processed policies information was returned');
    expect(me.data).to.deep.equal({
      'security:read': { 'user:id:*': 'allow', 'user:id:1': 'deny' },
      rbac_mode: 'black',
    });
  });
});
