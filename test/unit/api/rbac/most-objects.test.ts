import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { LocalDecisions } from '../../../../api/auth/local-decisions.js';
import { ProblemError } from '../../../../api/http/problem-error.js';
import { PolicyAdministration } from '../../../../api/rbac/policy-administration.js';
import { RbacStore } from '../../../../api/rbac/rbac-store.js';
import type { PendingChange, RbacObject, RbacTable } from '../../../../api/rbac/rbac-table.js';
import { RoleAdministration } from '../../../../api/rbac/role-administration.js';
import { SecurityRuleAdministration } from '../../../../api/rbac/security-rule-administration.js';
import { UserAdministration } from '../../../../api/rbac/user-administration.js';

const MOST = 10_000;
const { signal } = new AbortController();

describe('objects of access control', () => {
  let directory: string;
  let store: RbacStore;
  /** Passwords that wait for their hash. */
  let waiting: (() => void)[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-most-'));
    store = await RbacStore.open(join(directory, 'rbac'), () => Promise.resolve([]));
    waiting = [];
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true });
  });

  async function fill<T extends RbacObject>(table: RbacTable<T>, make: (id: number, name: string) => T): Promise<void> {
    const changes: PendingChange[] = [];
    while (table.size < MOST) changes.push(table.put(make(table.nextId(), `filler-${String(table.size)}`)));
    await store.commit(changes);
  }
  const decisions = () => new LocalDecisions({ store, settings: { replace: () => {} }, keys: { take: () => {} } });
  const users = () =>
    new UserAdministration(store, decisions(), {
      hash: () => new Promise((resolve) => waiting.push(() => resolve('scrypt$16$1$1$c2FsdA$aGFzaA'))),
    });
  const make = (name: string) => users().create(name, 'Another-42-word', 1, signal);

  async function refusal(work: Promise<unknown>): Promise<string> {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(ProblemError).with.property('status', 400);
    return (error as ProblemError).message;
  }

  it('are 10,000 of a kind at most, until one is deleted', async () => {
    const roles = new RoleAdministration(store, decisions());
    await fill(store.roles, (id, name) => ({ id, name, policies: [], rules: [] }));
    expect(await refusal(roles.create('one-more'))).to.equal('There are 10000 roles already, no more can be made');
    expect((await roles.remove([100])).changed).to.have.length(1);
    expect((await roles.create('one-more')).name).to.equal('one-more');

    const policy = { actions: ['agent:read'], effect: 'allow' as const };
    await fill(store.policies, (id, name) => ({
      id,
      name,
      policy: { ...policy, resources: [`agent:id:${String(id)}`] },
    }));
    const policies = new PolicyAdministration(store, decisions());
    expect(await refusal(policies.create('one-more', { ...policy, resources: ['agent:id:1'] }))).to.equal(
      'There are 10000 policies already, no more can be made',
    );
    await fill(store.rules, (id, name) => ({ id, name, rule: { FIND: { name: String(id) } } }));
    const rules = new SecurityRuleAdministration(store, decisions());
    expect(await refusal(rules.create('one-more', { FIND: { name: 'x' } }))).to.equal(
      'There are 10000 security rules already, no more can be made',
    );
  });

  it('stay so many while hashes of passwords are made', async () => {
    await fill(store.users, (id, name) => ({ id, name, allowRunAs: false, passwordHash: '', roles: [] }));
    expect(await refusal(make('maria'))).to.equal('There are 10000 users already, no more can be made');
    await users().remove([100], 1);
    const both = [make('maria'), make('other')];
    expect(waiting).to.have.length(2);
    for (const go of waiting) go();
    const [first, second] = await Promise.allSettled(both);
    expect(first).to.have.nested.property('value.name', 'maria');
    expect(second).to.have.nested.property('reason.message', 'There are 10000 users already, no more can be made');
    expect(store.users.size).to.equal(MOST);
  });
});
