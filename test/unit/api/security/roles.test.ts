import { expect } from 'chai';
import { SecurityClient } from '../../../support/api/security-client.js';
import { TestApi } from '../../../support/api/test-api.js';

describe('roles of the API', () => {
  let api: TestApi;
  let admin: SecurityClient;
  beforeEach(async () => {
    api = await new TestApi().start();
    admin = await SecurityClient.login(api);
  });
  afterEach(() => api.remove());

  const first = async (path: string) => (await admin.list('GET', path)).data.affected_items[0];

  it('are made, renamed, listed and deleted', async () => {
    const made = await admin.list('POST', '/security/roles', { name: 'auditors' });
    expect(made.message).to.equal('Role was successfully created');
    expect(made.data.affected_items).to.deep.equal([{ id: 100, name: 'auditors', policies: [], users: [], rules: [] }]);
    expect(await admin.failures('POST', '/security/roles', { name: 'auditors' })).to.deep.equal({ 4005: ['auditors'] });
    await admin.makeRole('others');
    expect(await admin.failures('PUT', '/security/roles/101', { name: 'auditors' })).to.deep.equal({ 4005: [101] });
    expect(await admin.failures('PUT', '/security/roles/1', { name: 'chief' })).to.deep.equal({ 4008: [1] });
    expect(await admin.failures('PUT', '/security/roles/333', { name: 'chief' })).to.deep.equal({ 4002: [333] });
    expect(await admin.refused('PUT', '/security/roles/101', {})).to.deep.equal([400, 4001]);
    const renamed = await admin.list('PUT', '/security/roles/101', { name: 'chief' });
    expect([renamed.message, renamed.data.affected_items[0]?.['name']]).to.deep.equal([
      'Role was successfully updated',
      'chief',
    ]);
    expect(
      (await admin.list('GET', '/security/roles?sort=-name&limit=2')).data.affected_items.map(({ name }) => name),
    ).to.deep.equal(['users_admin', 'readonly']);
    expect(await admin.failures('DELETE', '/security/roles?role_ids=1,100,333')).to.deep.equal({
      4002: [333],
      4008: [1],
    });
    const rest = await admin.list('DELETE', '/security/roles?role_ids=all');
    expect([rest.error, rest.message]).to.deep.equal([0, 'All specified roles were deleted']);
    expect((await admin.list('GET', '/security/roles')).data.total_affected_items).to.equal(7);
  });

  it('have policies in an order', async () => {
    await admin.makeRole('auditors');
    const policies = async (query: string) =>
      (await admin.list('POST', `/security/roles/100/policies?${query}`)).data.affected_items[0]?.['policies'];
    expect(await policies('policy_ids=4,5')).to.deep.equal([4, 5]);
    expect(await policies('policy_ids=22,13&position=1')).to.deep.equal([4, 22, 13, 5]);
    expect(await admin.failures('POST', '/security/roles/100/policies?policy_ids=4,333')).to.deep.equal({
      4007: [333],
      4011: [4],
    });
    expect(await admin.failures('POST', '/security/roles/1/policies?policy_ids=4')).to.deep.equal({ 4008: [1] });
    expect(await admin.failures('POST', '/security/roles/333/policies?policy_ids=4')).to.deep.equal({ 4002: [333] });
    const removed = await admin.list('DELETE', '/security/roles/100/policies?policy_ids=4,26');
    expect(removed.message).to.equal('Some policies were not unlinked from role 100');
    expect(removed.data.affected_items[0]?.['policies']).to.deep.equal([22, 13, 5]);
    expect(removed.data.failed_items[0]?.error.code).to.equal(4010);
    expect(await admin.refused('DELETE', '/security/roles/333/policies?policy_ids=4')).to.deep.equal([404, 4002]);
    expect((await first('/security/policies?policy_ids=22'))?.['roles']).to.deep.equal([2, 100]);
  });

  it('may be given by rules, built-in ones too, while built-in rules stay where they are', async () => {
    await admin.makeRule('by-name', { FIND: { name: 'anna' } });
    const linked = await admin.list('POST', '/security/roles/1/rules?rule_ids=100');
    expect(linked.message).to.equal('All security rules were linked to role 1');
    expect(linked.data.affected_items[0]?.['rules']).to.deep.equal([1, 2, 100]);
    expect(await admin.failures('POST', '/security/roles/1/rules?rule_ids=100,333')).to.deep.equal({
      4022: [333],
      4023: [100],
    });
    expect(await admin.failures('POST', '/security/roles/2/rules?rule_ids=1')).to.deep.equal({ 4008: [1] });
    expect(await admin.failures('DELETE', '/security/roles/1/rules?rule_ids=1,2')).to.deep.equal({ 4008: ['1', '2'] });
    expect((await first('/security/rules?rule_ids=100'))?.['roles']).to.deep.equal([1]);
    const removed = await admin.list('DELETE', '/security/roles/1/rules?rule_ids=100');
    expect(removed.message).to.equal('All security rules were unlinked from role 1');
    expect(await admin.failures('DELETE', '/security/roles/1/rules?rule_ids=100')).to.deep.equal({ 4024: ['100'] });
  });

  it('leave users, policies and rules behind when they go', async () => {
    await admin.makeUser('maria');
    await admin.makeRole('auditors');
    await admin.list('POST', '/security/users/100/roles?role_ids=2,100');
    const gone = await admin.list('DELETE', '/security/roles?role_ids=100');
    expect(gone.data.affected_items[0]).to.deep.include({ id: 100, users: [100] });
    expect((await first('/security/users?user_ids=100'))?.['roles']).to.deep.equal([2]);
  });

  it('need both permissions to be linked', async () => {
    await admin.makeRole('auditors');
    const half = await admin.makeUserWith('maria', ['security:update'], ['role:id:100', 'policy:id:4']);
    expect(await half.refused('POST', '/security/roles/100/policies?policy_ids=5')).to.deep.equal([403, 4000]);
    expect(await half.refused('POST', '/security/roles/101/policies?policy_ids=4')).to.deep.equal([403, 4000]);
    const some = await half.list('POST', '/security/roles/100/policies?policy_ids=4,5');
    expect(some.data.affected_items[0]?.['policies']).to.deep.equal([4]);
    expect(some.data.failed_items[0]?.id).to.deep.equal([5]);
  });
});
