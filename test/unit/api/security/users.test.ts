import { expect } from 'chai';
import { GOOD_PASSWORD, SecurityClient } from '../../../support/api/security-client.js';
import { TEST_PASSWORD, TestApi } from '../../../support/api/test-api.js';

describe('users of the API', () => {
  let api: TestApi;
  let admin: SecurityClient;
  beforeEach(async () => {
    api = await new TestApi().start();
    admin = await SecurityClient.login(api);
  });
  afterEach(() => api.remove());

  it('are made, listed, changed and deleted, and are still there after a restart', async () => {
    const made = await admin.list('POST', '/security/users', { username: 'maria', password: GOOD_PASSWORD });
    expect(made.message).to.equal('User was successfully created');
    expect(made.data.affected_items).to.deep.equal([{ id: 100, username: 'maria', allow_run_as: false, roles: [] }]);
    await api.stop();
    await api.open();
    expect((await admin.list('GET', '/security/users?search=maria')).data.total_affected_items).to.equal(1);

    expect(await admin.refused('PUT', '/security/users/100', {})).to.deep.equal([400, 4001]);
    const changed = await admin.list('PUT', '/security/users/100', { password: 'Third-42-password' });
    expect(changed.message).to.equal('User was successfully updated');
    await SecurityClient.login(api, 'maria', 'Third-42-password');

    const gone = await admin.list('DELETE', '/security/users?user_ids=100,7');
    expect(gone.message).to.equal('Some users were not deleted');
    expect(gone.error).to.equal(2);
    expect(gone.data.failed_items.map(({ error, id }) => [error.code, id])).to.deep.equal([[5001, [7]]]);
    expect((await admin.list('GET', '/security/users')).data.affected_items.map(({ id }) => id)).to.deep.equal([1, 2]);
    expect(await admin.failures('GET', '/security/users?user_ids=1,100')).to.deep.equal({ 5001: [100] });
  });

  it('have names of their own and passwords that are hard to guess', async () => {
    await admin.makeUser('maria');
    const again = await admin.list('POST', '/security/users', { username: 'maria', password: GOOD_PASSWORD });
    expect([again.error, again.message]).to.deep.equal([1, 'User could not be created']);
    expect(again.data.failed_items[0]?.id).to.deep.equal(['maria']);
    const make = (password: string) => admin.refused('POST', '/security/users', { username: 'other', password });
    expect(await make('Sh0rt-x')).to.deep.equal([400, 5009]);
    expect(await make(`Aa1-${'x'.repeat(61)}`)).to.deep.equal([400, 5009]);
    for (const weak of ['lower-42-case', 'UPPER-42-CASE', 'No-digit-here', 'NoSymbol42here']) {
      expect(await make(weak), weak).to.deep.equal([400, 5007]);
    }
    expect((await admin.list('GET', '/security/users')).data.total_affected_items).to.equal(3);
    expect(await admin.refused('POST', '/security/users', { username: 'abc', password: GOOD_PASSWORD })).to.deep.equal([
      400,
      undefined,
    ]);
  });

  it('stay when they are built in or ask themselves, but may get another password', async () => {
    const second = await admin.makeUserWith(
      'maria',
      ['security:delete', 'security:update', 'security:read'],
      ['user:id:*'],
    );
    expect(await second.failures('DELETE', '/security/users?user_ids=1,100,102')).to.deep.equal({
      5001: [102],
      5004: [1],
      5008: [100],
    });
    const all = await second.list('DELETE', '/security/users?user_ids=all');
    expect([all.error, all.message, all.data.total_failed_items]).to.deep.equal([0, 'No user was deleted', 0]);
    expect(await second.refused('PUT', '/security/users/1', { password: GOOD_PASSWORD })).to.deep.equal([400, 5011]);
    await admin.list('PUT', '/security/users/1', { password: GOOD_PASSWORD });
    await SecurityClient.login(api, 'admin', GOOD_PASSWORD);
    await expectLoginFails(TEST_PASSWORD);
  });

  it('may log in with a context once that is allowed', async () => {
    await admin.makeUser('maria');
    const refused = await SecurityClient.tryRunAs(api, 'maria', GOOD_PASSWORD, {});
    expect([refused.status, (refused.json() as { error: number }).error]).to.deep.equal([403, 6004]);
    const on = await admin.list('PUT', '/security/users/100/run_as?allow_run_as=true');
    expect(on.message).to.equal('Parameter allow_run_as has been enabled for the user');
    expect(on.data.affected_items[0]?.['allow_run_as']).to.equal(true);
    await SecurityClient.runAs(api, 'maria', GOOD_PASSWORD, {});
    const off = await admin.list('PUT', '/security/users/100/run_as?allow_run_as=false');
    expect(off.message).to.equal('Parameter allow_run_as has been disabled for the user');
    const none = await admin.list('PUT', '/security/users/333/run_as?allow_run_as=true');
    expect(none.message).to.equal('The parameter allow_run_as could not be enabled for the user');
    expect(none.data.failed_items[0]?.error.code).to.equal(5001);
  });

  it('have roles in an order', async () => {
    await admin.makeUser('maria');
    const roles = async (query: string) =>
      (await admin.list('POST', `/security/users/100/roles?${query}`)).data.affected_items[0]?.['roles'];
    expect(await roles('role_ids=2,4')).to.deep.equal([2, 4]);
    expect(await roles('role_ids=3,5&position=1')).to.deep.equal([2, 3, 5, 4]);
    expect(await roles('role_ids=6&position=0')).to.deep.equal([6, 2, 3, 5, 4]);
    expect(await roles('role_ids=7&position=99')).to.deep.equal([6, 2, 3, 5, 4, 7]);
    expect(await admin.failures('POST', '/security/users/100/roles?role_ids=2,333')).to.deep.equal({
      4002: [333],
      4017: [2],
    });
    expect(await admin.failures('POST', '/security/users/1/roles?role_ids=2')).to.deep.equal({ 4008: [1] });
    expect(await admin.failures('POST', '/security/users/333/roles?role_ids=2')).to.deep.equal({ 5001: [333] });
    const large = '9'.repeat(400);
    expect((await admin.call('PUT', `/security/users/${large}/run_as?allow_run_as=true`)).status).to.equal(400);
    expect((await admin.call('DELETE', `/security/users?user_ids=${large}`)).status).to.equal(400);
    const unnamed = await admin.call('POST', '/security/users/100/roles?role_ids=2,all');
    expect([unnamed.status, (unnamed.json() as { detail: string }).detail]).to.deep.equal([
      400,
      "'all' is not a 'numbers': the ids have to be named",
    ]);
    const removed = await admin.list('DELETE', '/security/users/100/roles?role_ids=2,1,333');
    expect(removed.message).to.equal('Some roles were not unlinked from user maria');
    expect(removed.data.affected_items[0]?.['roles']).to.deep.equal([6, 3, 5, 4, 7]);
    expect(removed.data.failed_items.map(({ error }) => error.code)).to.deep.equal([4002, 4016]);
    expect(await admin.refused('DELETE', '/security/users/333/roles?role_ids=2')).to.deep.equal([404, 5001]);
    const all = await admin.list('DELETE', '/security/users/100/roles?role_ids=all');
    expect(all.data.affected_items[0]?.['roles']).to.deep.equal([]);
  });

  it('are shown as far as a policy goes, and no further', async () => {
    await admin.makeUser('hidden');
    const reader = await admin.makeUserWith(
      'reader',
      ['security:read', 'security:update'],
      ['user:id:1', 'user:id:101'],
    );
    const names = async (query: string) =>
      (await reader.list('GET', `/security/users${query}`)).data.affected_items.map(({ username }) => username);
    expect(await names('')).to.deep.equal(['admin', 'reader']);
    for (const query of [
      '?q=username=hidden',
      '?search=hidden',
      '?q=id=100',
      '?distinct=true&select=username&search=hid',
    ]) {
      expect(await names(query), query).to.deep.equal([]);
    }
    const some = await reader.list('GET', '/security/users?user_ids=1,100,333');
    expect(some.data.failed_items).to.have.length(1);
    expect(some.data.failed_items[0]?.error.message).to.equal('Permission denied: Resource type: user:id');
    expect(some.data.failed_items[0]?.id).to.deep.equal([100, 333]);
    expect(await reader.refused('GET', '/security/users?user_ids=100')).to.deep.equal([403, 4000]);
    expect(await reader.refused('PUT', '/security/users/100', { password: GOOD_PASSWORD })).to.deep.equal([403, 4000]);
    expect(
      await reader.refused('POST', '/security/users', { username: 'another', password: GOOD_PASSWORD }),
    ).to.deep.equal([403, 4000]);
    expect(await reader.refused('POST', '/security/users/101/roles?role_ids=1')).to.deep.equal([403, 4000]);
  });

  async function expectLoginFails(password: string): Promise<void> {
    const outcome = await SecurityClient.login(api, 'admin', password).then(
      () => 'let in',
      () => 'refused',
    );
    expect(outcome).to.equal('refused');
  }
});
