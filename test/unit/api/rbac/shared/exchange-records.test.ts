import { expect } from 'chai';
import fc from 'fast-check';
import { LocalDecisions } from '../../../../../api/auth/local-decisions.js';
import { DEFAULT_POLICIES, DEFAULT_ROLES, DEFAULT_SECURITY_RULES } from '../../../../../api/rbac/default-objects.js';
import { Permissions } from '../../../../../api/rbac/permissions.js';
import type { Policy, Role, SecurityRule, User } from '../../../../../api/rbac/rbac-model.js';
import type { SecurityObjects } from '../../../../../api/rbac/security-backup.js';
import { readAccessRecords } from '../../../../../api/rbac/shared/access-codec.js';
import { exchangeRecords } from '../../../../../api/rbac/shared/exchange-records.js';
import type { RecordChange } from '../../../../../lib/cluster/shared-records.js';
import { makeTokenKeyPair, type TokenKeyPair } from '../../../../../lib/security/token-keys.js';
import { AccessNode } from '../../../../support/api/access-node.js';
import { FakeCluster } from '../../../../support/cluster/fake-cluster.js';
import { eventually } from '../../../../support/eventually.js';

const AGENTS = ['001', '002', '003'];
const subset = (ids: readonly number[]) => fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 2 });

/** Own objects beside the built-in ones: ids from 100 on mean other things each time. */
const objects: fc.Arbitrary<SecurityObjects> = fc
  .record({
    policies: fc.array(fc.record({ agent: fc.constantFrom(...AGENTS), deny: fc.boolean() }), { maxLength: 3 }),
    rules: fc.nat(2),
    roles: fc.array(fc.record({ policies: subset([100, 101, 102]), rules: subset([100, 101]) }), { maxLength: 3 }),
    users: fc.array(fc.record({ roles: subset([100, 101, 102]), name: fc.nat(4) }), { maxLength: 3 }),
    ownRule: fc.boolean(),
  })
  .map(({ policies, rules, roles, users, ownRule }) => {
    const policyOf = (one: (typeof policies)[number], index: number): Policy => ({
      id: 100 + index,
      name: `policy-${one.agent}-${one.deny}-${index}`,
      policy: { actions: ['agent:read'], resources: [`agent:id:${one.agent}`], effect: one.deny ? 'deny' : 'allow' },
    });
    const made = policies.map(policyOf);
    const rulesMade = Array.from({ length: rules }, (_none, index): SecurityRule => ({
      id: 100 + index,
      name: `rule${index}`,
      rule: { FIND: { a: String(index) } },
    }));
    const has = (list: readonly { readonly id: number }[]) => (id: number) => list.some((one) => one.id === id);
    const rolesMade = roles.map((one, index): Role => ({
      id: 100 + index,
      name: `role-${index}`,
      policies: one.policies.filter(has(made)),
      rules: one.rules.filter(has(rulesMade)),
    }));
    const usersMade = new Map(
      users.map((one, index): [number, User] => [
        one.name,
        {
          id: 100 + index,
          name: `user-${one.name}`,
          allowRunAs: false,
          passwordHash: `hash-${one.name}`,
          roles: one.roles.filter(has(rolesMade)),
        },
      ]),
    );
    const [administrator, ...others] = DEFAULT_ROLES;
    const admin = { ...administrator, rules: [1, 2, ...(ownRule && rules > 0 ? [100] : [])] } as Role;
    const builtIn: User[] = [
      { id: 1, name: 'admin', allowRunAs: true, passwordHash: 'hash', roles: [1] },
      { id: 2, name: 'wazuh-wui', allowRunAs: true, passwordHash: 'hash', roles: [1] },
    ];
    return {
      users: [...builtIn, ...[...usersMade.values()].sort((a, b) => a.id - b.id)],
      roles: [admin, ...others, ...rolesMade],
      policies: [...DEFAULT_POLICIES, ...made],
      rules: [...DEFAULT_SECURITY_RULES, ...rulesMade],
    };
  });

type Mode = 'white' | 'black';
type Access = { readonly objects: SecurityObjects; readonly mode: Mode };

/** Agents that a user sees. */
function seen({ objects: { users, roles, policies }, mode }: Access, name: string): string[] {
  const user = users.find((one) => one.name === name);
  if (user === undefined) return [];
  const bodies = user.roles.flatMap((id) =>
    (roles.find((role) => role.id === id)?.policies ?? []).flatMap(
      (policy) => policies.find((one) => one.id === policy)?.policy ?? [],
    ),
  );
  return [...new Permissions(mode, bodies).allowed('agent:read', 'agent:id', AGENTS)];
}

describe('a backup that a cluster takes over', () => {
  let tokenKeys: TokenKeyPair;
  before(async () => {
    tokenKeys = await makeTokenKeyPair();
  });

  it('lets nobody do more than before or afterwards at any moment, and leads to what it holds', async () => {
    const node = new AccessNode('one');
    await node.start();
    const mode = fc.constantFrom<Mode>('white', 'black');
    try {
      await fc.assert(
        fc.asyncProperty(objects, objects, mode, mode, async (before, after, oldMode, newMode) => {
          const { store, settings, keys } = node.up;
          const settingsOf = (rbac_mode: Mode) => ({ auth_token_exp_timeout: 900, rbac_mode });
          const made = new Date(0).toISOString();
          await new LocalDecisions({ store, settings, keys }).replace(
            { made, settings: settingsOf(oldMode), objects: before },
            tokenKeys,
          );
          const changes = exchangeRecords({
            backup: { made, settings: settingsOf(newMode), objects: after },
            tokenKeys,
            store,
            current: settings.current(),
          });
          const records = new Map<string, RecordChange>();
          const begin = { objects: before, mode: oldMode };
          const end = { objects: after, mode: newMode };
          const state = new Map<string, unknown>(
            Object.entries(before).flatMap(([kind, list]) => list.map((one) => [`${kind} ${one.id}`, one])),
          );
          let now: Mode = oldMode;
          for (const change of changes) {
            records.set(change.key, change);
            const news = readAccessRecords([change]);
            for (const { kind, id, object } of news.objects) {
              if (object === undefined) state.delete(`${kind} ${id}`);
              else state.set(`${kind} ${id}`, object);
            }
            now = news.settings?.rbacMode ?? now;
            const of = (kind: string) => [...state].flatMap(([key, one]) => (key.startsWith(`${kind} `) ? [one] : []));
            const middle = {
              objects: { users: of('users'), roles: of('roles'), policies: of('policies'), rules: of('rules') },
              mode: now,
            } as Access;
            for (const { name } of middle.objects.users) {
              const may = seen(middle, name);
              const allowed = [seen(begin, name), seen(end, name)];
              expect(
                allowed.some((list) => may.every((agent) => list.includes(agent))),
                `${name} behind ${change.key}: ${may.join()} of ${JSON.stringify(allowed)}`,
              ).to.equal(true);
            }
          }
          const result = Object.fromEntries(
            Object.keys(after).map((kind) => [
              kind,
              [...state]
                .flatMap(([key, one]) => (key.startsWith(`${kind} `) ? [one as { id: number }] : []))
                .sort((a, b) => a.id - b.id),
            ]),
          );
          expect(result).to.deep.equal(after);
          expect(now).to.equal(newMode);
        }),
        { numRuns: 60 },
      );
    } finally {
      await node.remove();
    }
  });

  it('is in force at all nodes, and ends all tokens, also those of logins meanwhile', async () => {
    const cluster = new FakeCluster();
    const nodes = ['one', 'two'].map((name) => new AccessNode(name));
    for (const node of nodes) {
      node.belongsTo(cluster);
      await node.start();
      await eventually('it has joined', () => node.up.shared?.loaded === true);
    }
    const [one, two] = nodes;
    if (one === undefined || two === undefined) throw new Error('two nodes');
    try {
      const signal = new AbortController().signal;
      await one.up.users.create('maria', 'Another-42-word', 1, signal);
      const backup = {
        made: new Date(0).toISOString(),
        settings: { auth_token_exp_timeout: 700, rbac_mode: 'black' as const },
        objects: one.up.store.objects(),
      };
      await two.up.users.remove([100], 1);
      await two.up.users.create('peter', 'Another-42-word', 1, signal);
      const tokens = [one.logIn('admin') ?? ''];
      cluster.committed = () => tokens.push(two.logIn('admin') ?? '');
      expect(await one.up.decisions.replace(backup, tokenKeys)).to.deep.equal([]);
      for (const node of nodes) {
        const { up } = node;
        await eventually('it is in force', () => up.shared?.revision === cluster.revision);
        expect(up.store.objects()).to.deep.equal(backup.objects);
        expect(up.settings.current()).to.deep.equal({ tokenLifetimeSeconds: 700, rbacMode: 'black' });
        expect(up.keys.pem()).to.deep.equal(tokenKeys);
        expect(tokens.map((token) => node.takes(token))).to.deep.equal([false, false]);
      }
      expect((await one.up.users.create('next', 'Another-42-word', 1, signal)).id).to.equal(102);
    } finally {
      for (const node of nodes) await node.remove();
    }
  });
});
