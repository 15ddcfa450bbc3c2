import { expect } from 'chai';
import { SecurityClient } from '../../../support/api/security-client.js';
import { TestApi } from '../../../support/api/test-api.js';

const READ_RULES = { actions: ['rules:read'], resources: ['rule:file:*'], effect: 'allow' };

describe('policies of the API', () => {
  let api: TestApi;
  let admin: SecurityClient;
  beforeEach(async () => {
    api = await new TestApi().start();
    admin = await SecurityClient.login(api);
  });
  afterEach(() => api.remove());

  const create = (name: string, policy: object) => admin.failures('POST', '/security/policies', { name, policy });

  it('are made, changed, listed and deleted', async () => {
    const policy = { actions: ['Agent:Read'], resources: ['AGENT:ID:001', 'agent:group:Web'], effect: 'DENY' };
    const made = await admin.list('POST', '/security/policies', { name: 'no-web', policy });
    expect(made.message).to.equal('Policy was successfully created');
    const body = { actions: ['agent:read'], resources: ['agent:id:001', 'agent:group:Web'], effect: 'deny' };
    expect(made.data.affected_items).to.deep.equal([{ id: 100, name: 'no-web', policy: body, roles: [] }]);
    const renamed = await admin.list('PUT', '/security/policies/100', { name: 'no-web-please' });
    expect(renamed.data.affected_items[0]).to.deep.include({ name: 'no-web-please', policy: body });
    const changed = await admin.list('PUT', '/security/policies/100', { policy: { ...body, effect: 'allow' } });
    expect(changed.data.affected_items[0]?.['policy']).to.deep.equal({ ...body, effect: 'allow' });
    expect(await admin.refused('PUT', '/security/policies/100', {})).to.deep.equal([400, 4001]);
    expect(await admin.failures('PUT', '/security/policies/1', { name: 'mine' })).to.deep.equal({ 4008: [1] });
    expect(await admin.failures('PUT', '/security/policies/333', { name: 'mine' })).to.deep.equal({ 4007: [333] });
    expect(await admin.failures('DELETE', '/security/policies?policy_ids=1,100,333')).to.deep.equal({
      4007: [333],
      4008: [1],
    });
    expect((await admin.list('GET', '/security/policies')).data.total_affected_items).to.equal(36);
  });

  it('exist once, by name and by what they say', async () => {
    expect(await create('first', { ...READ_RULES, resources: ['rule:file:a.xml'] })).to.deep.equal({});
    expect(await create('first', { ...READ_RULES, resources: ['rule:file:b.xml'] })).to.deep.equal({ 4009: ['first'] });
    expect(await create('second', { ...READ_RULES, resources: ['rule:file:a.xml'] })).to.deep.equal({
      4009: ['second'],
    });
    expect(await create('of-the-house', READ_RULES)).to.deep.equal({ 4009: ['of-the-house'] });
    await admin.makePolicy('second', ['rules:read'], ['rule:file:b.xml']);
    expect(await admin.failures('PUT', '/security/policies/101', { name: 'first' })).to.deep.equal({ 4013: [101] });
    // Its own name and content are no others.
    expect(await admin.failures('PUT', '/security/policies/101', { name: 'second' })).to.deep.equal({});
  });

  it('that are none are refused with what is wrong', async () => {
    const reason = async (policy: object) => {
      const { data } = await admin.list('POST', '/security/policies', { name: 'wrong', policy });
      return data.failed_items.map(({ error }) => `${error.code} ${error.message}`).join();
    };
    const text = '4006 The specified policy is invalid';
    expect(await reason({ ...READ_RULES, actions: ['rules'] })).to.equal(`${text}: action 'rules'`);
    expect(await reason({ ...READ_RULES, actions: ['rules:read:all'] })).to.equal(`${text}: action 'rules:read:all'`);
    expect(await reason({ ...READ_RULES, resources: ['rule:file'] })).to.equal(`${text}: resource 'rule:file'`);
    expect(await reason({ ...READ_RULES, resources: ['rule:file:a b'] })).to.equal(`${text}: resource 'rule:file:a b'`);
    expect(await reason({ ...READ_RULES, effect: 'perhaps' })).to.equal(`${text}: effect 'perhaps'`);
    expect(await reason({ ...READ_RULES, actions: [] })).to.equal(`${text}: actions has 0 elements`);
    expect(
      await admin.refused('POST', '/security/policies', { name: 'x', policy: { ...READ_RULES, more: 1 } }),
    ).to.deep.equal([400, undefined]);
    expect(await admin.refused('POST', '/security/policies', { name: 'x', policy: { actions: [] } })).to.deep.equal([
      400,
      undefined,
    ]);
  });

  it('take effect, in their order', async () => {
    const user = await admin.makeUserWith('maria', ['security:read'], ['policy:id:*']);
    expect((await user.list('GET', '/security/policies')).data.total_affected_items).to.equal(37);
    await admin.makePolicy('not-that', ['security:read'], ['policy:id:1', 'policy:id:2'], 'deny');
    await admin.list('POST', '/security/roles/100/policies?policy_ids=101');
    const fewer = await SecurityClient.login(api, 'maria', 'Another-42-word');
    expect((await fewer.list('GET', '/security/policies')).data.total_affected_items).to.equal(36);
    await admin.list('DELETE', '/security/roles/100/policies?policy_ids=101');
    await admin.list('POST', '/security/roles/100/policies?policy_ids=101&position=0');
    const all = await SecurityClient.login(api, 'maria', 'Another-42-word');
    expect((await all.list('GET', '/security/policies')).data.total_affected_items).to.equal(38);
  });

  it('say on use when they join three resources', async () => {
    const three = 'agent:id:001&agent:group:web&node:id:n1';
    const user = await admin.makeUserWith('maria', ['security:read', 'agent:read'], ['policy:id:*', three]);
    expect(await user.refused('GET', '/security/policies')).to.deep.equal([400, 4500]);
  });
});
