import { expect } from 'chai';
import { checkSecurityObjects } from '../../../../api/rbac/check-security-objects.js';
import {
  DEFAULT_POLICIES,
  DEFAULT_ROLES,
  DEFAULT_SECURITY_RULES,
  DEFAULT_USERS,
} from '../../../../api/rbac/default-objects.js';
import { MOST_OBJECTS } from '../../../../api/rbac/most-objects.js';
import type { Policy, Role, SecurityRule, User } from '../../../../api/rbac/rbac-model.js';
import {
  readSecurityBackup,
  SecurityBackupError,
  type SecurityObjects,
  writeSecurityBackup,
} from '../../../../api/rbac/security-backup.js';
import { loadContract } from '../../../../lib/contract/api-contract.js';

const passwordHash = `scrypt$16384$8$5$${'A'.repeat(22)}$${'B'.repeat(43)}`;
const own: Policy = {
  id: 100,
  name: 'own',
  policy: { actions: ['agent:read'], resources: ['agent:group:Web'], effect: 'deny' },
};
const maria: User = { id: 100, name: 'maria', allowRunAs: false, passwordHash, roles: [100, 2] };
const team: Role = { id: 100, name: 'team', policies: [100, 4], rules: [100] };
const GOOD: SecurityObjects = {
  users: [...DEFAULT_USERS.map(({ id, name }) => ({ id, name, allowRunAs: true, passwordHash, roles: [1] })), maria],
  roles: [...DEFAULT_ROLES.map((role) => (role.id === 1 ? { ...role, rules: [1, 2, 100] } : role)), team],
  policies: [...DEFAULT_POLICIES, own],
  rules: [...DEFAULT_SECURITY_RULES, { id: 100, name: 'soc', rule: { FIND: { groups: 'soc', site: 'a' } } }],
};

describe('objects of a backup', () => {
  const { operations } = loadContract();
  const check = (objects: SecurityObjects) => checkSecurityObjects(objects, operations);
  const user = (id: number, part: Partial<User>): SecurityObjects => ({
    ...GOOD,
    users: GOOD.users.map((one) => (one.id === id ? { ...one, ...part } : one)),
  });
  const role = (id: number, part: Partial<Role>): SecurityObjects => ({
    ...GOOD,
    roles: GOOD.roles.map((one) => (one.id === id ? { ...one, ...part } : one)),
  });
  const policy = (part: Partial<Policy['policy']>): SecurityObjects => ({
    ...GOOD,
    policies: [...DEFAULT_POLICIES, { ...own, policy: { ...own.policy, ...part } }],
  });
  const rule = (one: SecurityRule): SecurityObjects => ({ ...GOOD, rules: [...GOOD.rules, one] });
  const without = (kind: keyof SecurityObjects, id: number): SecurityObjects => ({
    ...GOOD,
    [kind]: GOOD[kind].filter((one) => one.id !== id),
  });

  it('are held against each other in a time that grows with their number alone', function () {
    // Ten thousand of each took 40 s of processor time once, in which svc-apid answered nobody.
    this.timeout(20_000);
    const roles = Array.from({ length: MOST_OBJECTS - GOOD.roles.length }, (_none, at) => ({
      ...team,
      id: 1000 + at,
      name: `role-${String(at)}`,
    }));
    const users = Array.from({ length: MOST_OBJECTS - GOOD.users.length }, (_none, at) => ({
      ...maria,
      id: 1000 + at,
      name: `user-${String(at)}`,
    }));
    check({ ...GOOD, users: [...GOOD.users, ...users], roles: [...GOOD.roles, ...roles] });
  });

  it('are taken as the API makes them', () => {
    check(GOOD);
    const made = '2026-05-08T12:34:19.000Z';
    const settings = { auth_token_exp_timeout: 900, rbac_mode: 'black' } as const;
    expect(readSecurityBackup(writeSecurityBackup({ made, settings, objects: GOOD }))).to.deep.equal({
      made,
      settings,
      objects: GOOD,
    });
  });

  it('are refused by name where the API would not have made them', () => {
    const cases: readonly (readonly [SecurityObjects, string])[] = [
      [without('users', 1), 'user 1 ("admin"): it is built in and is missing'],
      [without('policies', 7), 'policy 7 ("security_all_resourceless"): it is built in and is missing'],
      [without('rules', 2), 'security rule 2 ("wui_opensearch_admin"): it is built in and is missing'],
      [user(1, { roles: [2] }), 'user 1 ("admin"): it is built in and is another in this version'],
      [user(2, { name: 'other' }), 'user 2 ("other"): it is built in and is another in this version'],
      [role(1, { policies: [1] }), 'role 1 ("administrator"): it is built in and is another in this version'],
      [role(1, { rules: [2, 100] }), 'role 1 ("administrator"): it is built in and is another in this version'],
      [role(100, { rules: [1] }), 'role 100 ("team"): it is built in and is another in this version'],
      [role(100, { rules: [100, 100] }), 'role 100 ("team"): it has a security rule twice'],
      [role(100, { policies: [333] }), 'role 100 ("team"): its policy 333 is missing'],
      [role(100, { name: 'a'.repeat(65) }), `role 100 ("${'a'.repeat(65)}"): '${'a'.repeat(65)}' is too long`],
      [user(100, { roles: [333] }), 'user 100 ("maria"): its role 333 is missing'],
      [user(100, { name: 'admin' }), 'user 100 ("admin"): its name is there twice'],
      [user(100, { name: 'abc' }), `user 100 ("abc"): 'abc' is too short`],
      [user(100, { name: 'a bcd' }), `user 100 ("a bcd"): 'a bcd' is not a 'names'`],
      [user(100, { id: 50 }), 'user 50 ("maria"): ids up to 99 are reserved'],
      [user(100, { id: -1 }), 'user -1 ("maria"): its id is no id'],
      [policy({ actions: ['Agent:read'] }), 'policy 100 ("own"): it is not as the API would store it'],
      [policy({ resources: ['agent'] }), `policy 100 ("own"): The specified policy is invalid: resource 'agent'`],
      [
        { ...GOOD, policies: [...GOOD.policies, { ...own, id: 101, name: 'again' }] },
        'policy 101 ("again"): another says the same',
      ],
      [
        rule({ id: 200, name: 'bad', rule: { EVAL: {} } }),
        `security rule 200 ("bad"): 'EVAL' is neither AND, OR, NOT, MATCH, MATCH$, FIND nor FIND$`,
      ],
      [
        rule({ id: 200, name: 'again', rule: { FIND: { site: 'a', groups: 'soc' } } }),
        'security rule 200 ("again"): another says the same',
      ],
    ];
    for (const [objects, message] of cases) {
      expect(() => check(objects), message)
        .to.throw(SecurityBackupError)
        .with.property('message', message);
    }
    for (const bad of [
      '',
      'plain',
      'scrypt$1048576$64$1$AAAAAAAA$AAAAAAAAAAAAAAAA',
      `${passwordHash}$`,
      'scrypt$15$8$1$',
    ]) {
      expect(() => check(user(100, { passwordHash: bad })), bad).to.throw(
        /it has no password hash that this version makes/,
      );
    }
  });
});
