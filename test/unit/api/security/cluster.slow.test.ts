import { expect } from 'chai';
import { GOOD_PASSWORD, SecurityClient } from '../../../support/api/security-client.js';
import { basic, TEST_PASSWORD, TestApi } from '../../../support/api/test-api.js';
import { FakeCluster } from '../../../support/cluster/fake-cluster.js';
import { eventually } from '../../../support/eventually.js';

describe('logins, tokens and users at two nodes of a cluster', () => {
  let cluster: FakeCluster;
  let one: TestApi;
  let two: TestApi;

  beforeEach(async () => {
    cluster = new FakeCluster();
    one = await new TestApi().start({}, { records: cluster.client('one') });
    await eventually('one has brought what it has', () => cluster.value('access', 'numbers/given'));
    two = await new TestApi().start({}, { records: cluster.client('two') });
    await eventually('two has joined', () => two.logger.lines.some((line) => line.includes('All tokens that this')));
  });
  afterEach(async () => {
    await one.remove();
    await two.remove();
  });

  const lives = async (api: TestApi, token: string): Promise<boolean> =>
    (await new SecurityClient(api, token).call('GET', '/security/users/me')).status === 200;
  const bothSay = (what: string, token: string, wanted: boolean) =>
    eventually(what, async () => (await lives(one, token)) === wanted && (await lives(two, token)) === wanted);

  it('are one: who is made at one logs in at the other, with tokens that all take until they end anywhere', async () => {
    const admin = await SecurityClient.login(one);
    const maria = await admin.makeUser('maria');
    const token = await eventually('she logs in', () => two.login('maria', GOOD_PASSWORD).catch(() => undefined));
    await bothSay('her token is good at both', token, true);
    await bothSay('that of the administrator, too', admin.token, true);
    await new SecurityClient(two, token).call('DELETE', '/security/user/authenticate');
    await bothSay('she has logged out', token, false);

    const next = await one.login('maria', GOOD_PASSWORD);
    await bothSay('she is in again', next, true);
    await (await SecurityClient.login(two)).list('PUT', `/security/users/${maria}`, { password: 'Third-42-password' });
    await bothSay('her password is another', next, false);
    const last = await eventually('the new one is good', () =>
      one.login('maria', 'Third-42-password').catch(() => undefined),
    );
    const answer = await (
      await SecurityClient.login(two)
    ).call('PUT', '/security/config', { auth_token_exp_timeout: 60 });
    expect(answer.text).to.equal('{"message": "Configuration was successfully updated", "error": 0}');
    await bothSay('tokens last shorter', last, false);
    const shown = async () =>
      ((await (await SecurityClient.login(one)).call('GET', '/security/config')).json() as { data: object }).data;
    expect(await shown()).to.deep.equal({ auth_token_exp_timeout: 60, rbac_mode: 'white' });
    const { token: old } = await SecurityClient.login(one);
    await bothSay('it is good', old, true);
    await (await SecurityClient.login(two)).call('PUT', '/security/user/revoke');
    await bothSay('all have ended', old, false);
  });

  it('go on while the cluster takes no change, which is answered in words', async () => {
    const admin = await SecurityClient.login(one);
    cluster.unavailable = 'no quorum of the NATS servers';
    for (const [method, path, body] of [
      ['POST', '/security/users', { username: 'maria', password: GOOD_PASSWORD }],
      ['POST', '/security/roles', { name: 'team' }],
      ['PUT', '/security/users/1', { password: GOOD_PASSWORD }],
      ['PUT', '/security/config', { rbac_mode: 'black' }],
      ['PUT', '/security/user/revoke', undefined],
      ['DELETE', '/security/user/authenticate', undefined],
    ] as const) {
      const answer = await admin.call(method, path, body);
      expect(answer.status, answer.text).to.equal(503);
      expect(answer.json()).to.have.property('error', 3012);
      expect(answer.text).to.include('no quorum of the NATS servers');
    }
    expect(await lives(one, admin.token)).to.equal(true);
    const login = await two.request('POST', '/security/user/authenticate?raw=true', {
      headers: { authorization: basic('admin', TEST_PASSWORD) },
    });
    expect(login.status).to.equal(200);
    cluster.unavailable = undefined;
    await eventually(
      'it takes changes again',
      async () => (await admin.call('POST', '/security/roles', { name: 'team' })).status === 200,
    );
  });
});
