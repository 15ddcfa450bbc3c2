import { expect } from 'chai';
import {
  DEFAULT_POLICIES,
  DEFAULT_ROLES,
  DEFAULT_SECURITY_RULES,
  DEFAULT_USERS,
} from '../../../../api/rbac/default-objects.js';
import { RbacStore } from '../../../../api/rbac/rbac-store.js';
import { readSecurityBackup, writeSecurityBackup } from '../../../../api/rbac/security-backup.js';
import { SharedAccess } from '../../../../api/rbac/shared/shared-access.js';
import { makeTokenKeyPair } from '../../../../lib/security/token-keys.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

/** What an earlier version had: no policy about alerts. */
const EARLIER_POLICIES = DEFAULT_POLICIES.filter(({ id }) => id !== 36);
const EARLIER_ROLES = DEFAULT_ROLES.map((role) => ({ ...role, policies: role.policies.filter((id) => id !== 36) }));
const USERS = DEFAULT_USERS.map(({ id, name }) => ({
  ...{ id, name, allowRunAs: true, roles: [1] },
  passwordHash: `scrypt$16384$8$5$${'A'.repeat(22)}$${'B'.repeat(43)}`,
}));
const OWN = { id: 100, name: 'own', policies: [4], rules: [] };
const rolesWithOwnRule = EARLIER_ROLES.map((role) => (role.id === 1 ? { ...role, rules: [1, 2, 100] } : role));

describe('objects that are built in since a later version', () => {
  let home: TemporaryHome;
  beforeEach(() => {
    home = new TemporaryHome();
  });
  afterEach(() => home.remove());

  const open = () => RbacStore.open(home.path('rbac'), () => Promise.resolve(USERS));

  it('are in a store of an earlier version once it is opened, and what users made stays', async () => {
    const first = await open();
    await first.commit([
      ...first.policies.exchange(new Map(EARLIER_POLICIES.map((policy) => [policy.id, policy]))),
      ...first.roles.exchange(new Map([...rolesWithOwnRule, OWN].map((role) => [role.id, role]))),
    ]);
    await first.close();
    for (let start = 0; start < 2; start += 1) {
      const store = await open();
      expect(store.policies.all()).to.deep.equal(DEFAULT_POLICIES);
      expect(store.roles.get(1)).to.deep.equal({ ...DEFAULT_ROLES[0], rules: [1, 2, 100] });
      expect(store.roles.get(2)).to.deep.equal(DEFAULT_ROLES[1]);
      expect(store.roles.get(4)).to.deep.equal(DEFAULT_ROLES[3]);
      expect(store.roles.get(100)).to.deep.equal(OWN);
      await store.close();
    }
  });

  it('are in a backup of an earlier version when it is read', () => {
    const objects = {
      users: USERS,
      roles: [...EARLIER_ROLES, OWN],
      policies: EARLIER_POLICIES,
      rules: DEFAULT_SECURITY_RULES,
    };
    const settings = { auth_token_exp_timeout: 900, rbac_mode: 'white' as const };
    const made = '2026-11-24T12:00:03.512Z';
    const read = readSecurityBackup(writeSecurityBackup({ made, settings, objects }));
    expect(read.objects.policies).to.deep.equal(DEFAULT_POLICIES);
    expect(read.objects.roles).to.deep.equal([...DEFAULT_ROLES, OWN]);
  });

  it('are in force at a node of a cluster of an earlier version, also when that writes a role again', async () => {
    const store = await open();
    const tokenKeys = await makeTokenKeyPair();
    const parts = { store, settings: { hold: () => {} }, keys: { hold: () => {} }, logger: new RecordingLogger() };
    const shared = new SharedAccess(parts as never);
    const record = (key: string, value: object) => ({ kind: 'access' as const, key, value, revision: 1 });
    const bare = ({ id: _id, ...value }: { id: number }) => value;
    const earlier = { ...bare(rolesWithOwnRule[0]!), revision: 3 };
    await shared.load([
      ...EARLIER_POLICIES.map((policy) => record(`policy/${policy.id}`, bare(policy))),
      ...DEFAULT_SECURITY_RULES.map((rule) => record(`rule/${rule.id}`, bare(rule))),
      ...EARLIER_ROLES.map((role) => record(`role/${role.id}`, { ...bare(role), revision: 3 })),
      ...USERS.map((user) => record(`user/${user.id}`, { ...bare(user), revision: 0 })),
      record('tokens/key', { privateKey: tokenKeys.privateKey }),
    ]);
    expect(store.policies.all()).to.deep.equal(DEFAULT_POLICIES);
    expect(store.roles.all()).to.deep.equal(DEFAULT_ROLES);
    await shared.apply([record('role/1', earlier)]);
    expect(store.roles.get(1)).to.deep.equal({ ...DEFAULT_ROLES[0], rules: [1, 2, 100] });
    await store.close();
  });
});
