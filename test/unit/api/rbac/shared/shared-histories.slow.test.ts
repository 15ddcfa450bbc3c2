import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalText } from '../../../../../api/rbac/canonical-text.js';
import type { PolicyBody } from '../../../../../api/rbac/rbac-model.js';
import type { SecurityObjects } from '../../../../../api/rbac/security-backup.js';
import { readAccessRecords } from '../../../../../api/rbac/shared/access-codec.js';
import type { RecordChange } from '../../../../../lib/cluster/shared-records.js';
import { makeTokenKeyPair } from '../../../../../lib/security/token-keys.js';
import { AccessNode } from '../../../../support/api/access-node.js';
import { FakeCluster } from '../../../../support/cluster/fake-cluster.js';
import { eventually } from '../../../../support/eventually.js';

const { signal } = new AbortController();
const NAMES = ['ann', 'bob', 'cleo'];
const ROLES = ['red', 'green', 'blue'];
const POLICIES = ['see', 'hide'];

type Step = {
  readonly node: number;
  readonly what: (typeof WHAT)[number];
  readonly a: number;
  readonly b: number;
  /** Goes on at once with the next step. */
  readonly atOnce: boolean;
};
const WHAT = [
  'make user',
  'make user',
  'remove user',
  'new password',
  'log in',
  'log in',
  'log in',
  'log in',
  'log in with a context',
  'log out',
  'make role',
  'make role',
  'remove role',
  'rename role',
  'give role',
  'give role',
  'take role',
  'make policy',
  'change policy',
  'remove policy',
  'give policy',
  'give policy',
  'take policy',
  'make rule',
  'remove rule',
  'give rule',
  'revoke all',
  'settings',
  'restart',
  'cut off',
  'heal',
  'heal',
  'join',
  'die in a commit',
] as const;

/** A token, who has it, and whether something ended it. */
type Issued = { readonly token: string; readonly user: string; dead: boolean };

const body = (a: number, b: number): PolicyBody => ({
  actions: ['agent:read'],
  resources: [`agent:id:${a % 3}`],
  effect: b % 2 === 0 ? 'allow' : 'deny',
});

/** Nodes of a cluster, the third of which joins some time, and all that is known to be so whatever happens. */
class History {
  readonly cluster = new FakeCluster();
  readonly nodes = ['one', 'two', 'three'].map((name) => new AccessNode(name));
  readonly issued: Issued[] = [];
  /** Ids that were given, and those that are gone. */
  readonly #gone = new Set<string>();
  readonly #records = new Map<string, RecordChange>();
  readonly faults: string[] = [];

  async begin(): Promise<void> {
    this.cluster.committed = ({ changes }) => {
      for (const { kind, key, value = null } of changes) this.#see({ kind, key, value });
    };
    for (const node of this.nodes) await node.start();
    for (const [index, node] of this.nodes.entries()) {
      // What they have before: some of the same names and ids.
      await node.up.roles.create(ROLES[index % 2] ?? '');
      await node.up.users.create(NAMES[index] ?? '', 'Another-42-word', 1, signal);
      await node.up.users.link(100, [100]);
    }
    await this.join(0);
    await this.join(1);
  }

  async join(index: number): Promise<void> {
    const node = this.#node(index);
    if (node.client !== undefined) return;
    await node.stop();
    node.belongsTo(this.cluster);
    await node.start();
  }

  /** Each beginning of what is committed is a state that may last. */
  #see(change: RecordChange): void {
    const isObject = /^(user|role|policy|rule)\//.test(change.key);
    if (change.value === null) {
      this.#records.delete(change.key);
      if (isObject) this.#gone.add(change.key);
    } else {
      if (this.#gone.has(change.key)) this.faults.push(`${change.key} is given again`);
      this.#records.set(change.key, change);
    }
    const news = readAccessRecords([...this.#records.values()]);
    const of = (kind: string) => news.objects.flatMap((one) => (one.kind === kind ? [one.object] : []));
    const objects = { users: of('users'), roles: of('roles'), policies: of('policies'), rules: of('rules') };
    this.faults.push(...faultsOf(objects as never).map((fault) => `behind ${change.key}: ${fault}`));
  }

  #node(index: number): AccessNode {
    const node = this.nodes[index];
    if (node === undefined) throw new Error('no such node');
    return node;
  }

  /** What ends tokens of users. */
  async #ending(
    users: (user: string) => boolean,
    change: () => Promise<{ readonly changed?: readonly unknown[] } | unknown>,
  ) {
    const before = this.issued.filter(({ user }) => users(user));
    const result = await change();
    const isNothing =
      typeof result === 'object' &&
      result !== null &&
      'changed' in result &&
      (result.changed as unknown[]).length === 0;
    if (!isNothing) for (const one of before) one.dead = true;
  }

  async step({ node: index, what, a, b }: Step): Promise<void> {
    const node = this.#node(index);
    if (what === 'join') return this.join(2);
    if (node.client === undefined) return;
    const { users, roles, policies, rules, decisions, store } = node.up;
    const user = store.users.named(NAMES[a % 3] ?? '');
    const role = store.roles.named(ROLES[b % 3] ?? '');
    const policy = store.policies.named(POLICIES[a % 2] ?? '');
    const rule = store.rules.named('rule');
    const ofUser = (name: string) => name === user?.name;
    switch (what) {
      case 'make user':
        return void (await users.create(NAMES[a % 3] ?? '', 'Another-42-word', 1, signal));
      case 'remove user':
        return this.#ending(ofUser, () => users.remove([user?.id ?? 0], 1));
      case 'new password':
        return this.#ending(ofUser, () => users.setPassword(user?.id ?? 0, 'Third-42-word', 1, signal));
      case 'log in':
      case 'log in with a context': {
        const name = NAMES[a % 3] ?? '';
        const token = node.logIn(name, what === 'log in' ? undefined : [role?.id ?? 1]);
        if (token !== undefined) this.issued.push({ token, user: name, dead: false });
        return undefined;
      }
      case 'log out':
        return this.#ending(ofUser, () =>
          decisions.change(() => ({ revoked: [`user:${user?.id ?? 0}`], result: { changed: user ? [user] : [] } })),
        );
      case 'make role':
        return void (await roles.create(ROLES[b % 3] ?? ''));
      case 'remove role':
        return void (await roles.remove([role?.id ?? 0, store.roles.named(ROLES[a % 3] ?? '')?.id ?? 0]));
      case 'rename role':
        return void (await roles.rename(role?.id ?? 0, ROLES[a % 3] ?? ''));
      case 'give role':
        return this.#ending(ofUser, () => users.link(user?.id ?? 0, [role?.id ?? 0]));
      case 'take role':
        return this.#ending(ofUser, () => users.unlink(user?.id ?? 0, [role?.id ?? 0]));
      case 'make policy':
        return void (await policies.create(POLICIES[a % 2] ?? '', body(a, b)));
      case 'change policy':
        return void (await policies.update(policy?.id ?? 0, { policy: body(b, a) }));
      case 'remove policy':
        return void (await policies.remove([policy?.id ?? 0]));
      case 'give policy':
        return void (await roles.linkPolicies(role?.id ?? 0, [policy?.id ?? 0], 0));
      case 'take policy':
        return void (await roles.unlinkPolicies(role?.id ?? 0, [policy?.id ?? 0]));
      case 'make rule':
        return void (await rules.create('rule', { FIND: { a: String(a % 2) } }));
      case 'remove rule':
        return void (await rules.remove([rule?.id ?? 0]));
      case 'give rule':
        return void (await roles.linkRules(role?.id ?? 0, [rule?.id ?? 0]));
      case 'revoke all': {
        const tokenKeys = await makeTokenKeyPair();
        return this.#ending(
          () => true,
          () => decisions.change(() => ({ tokenKeys, result: true })),
        );
      }
      case 'settings': {
        const tokenKeys = await makeTokenKeyPair();
        const settings = { tokenLifetimeSeconds: 600 + a, rbacMode: b % 2 === 0 ? 'white' : 'black' } as const;
        return this.#ending(
          () => true,
          () => decisions.change(() => ({ settings, tokenKeys, result: true })),
        );
      }
      case 'restart':
        await node.stop();
        return node.start();
      case 'cut off':
        node.client.cut = true;
        return undefined;
      case 'heal':
        node.client.cut = false;
        return undefined;
      case 'die in a commit':
        node.client.diesAfter = a % 4;
        return undefined;
    }
  }

  /** All nodes are in it, and hear of everything. */
  async settle(): Promise<void> {
    for (const [index, node] of this.nodes.entries()) {
      await this.join(index);
      if (node.client !== undefined) {
        node.client.cut = false;
        node.client.diesAfter = undefined;
      }
    }
    await eventually('all nodes follow', () =>
      this.nodes.every(({ up: { shared } }) => shared?.loaded === true && shared.revision === this.cluster.revision),
    );
  }

  async end(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.remove()));
  }
}

/** What must not be, at any moment. */
function faultsOf({ users, roles, policies, rules }: SecurityObjects): string[] {
  const faults: string[] = [];
  const links = (of: string, ids: readonly number[], there: readonly { readonly id: number }[]) => {
    const missing = ids.filter((id) => !there.some((one) => one.id === id));
    if (missing.length > 0) faults.push(`${of} is linked to ${missing.join()}`);
    if (new Set(ids).size < ids.length) faults.push(`${of} is linked twice`);
  };
  for (const { name, roles: own } of users) links(name, own, roles);
  for (const { name, policies: own } of roles) links(name, own, policies);
  for (const { name, rules: own } of roles) links(name, own, rules);
  const twice = (texts: readonly string[]) => texts.filter((text, index) => texts.indexOf(text) < index);
  const names = [users, roles, policies, rules].flatMap((list) => twice(list.map(({ name }) => name)));
  const said = [
    ...twice(policies.map(({ policy }) => canonicalText(policy))),
    ...twice(rules.map(({ rule }) => canonicalText(rule))),
  ];
  return [...faults, ...names.map((name) => `two are ${name}`), ...said.map((text) => `two say ${text}`)];
}

describe('users and permissions of a cluster, whatever happens', () => {
  it('are the same at all nodes in the end, and no token lives that was ended', async () => {
    const step: fc.Arbitrary<Step> = fc.record({
      node: fc.nat(2),
      what: fc.constantFrom(...WHAT),
      a: fc.nat(5),
      b: fc.nat(5),
      atOnce: fc.boolean(),
    });
    const counts = { made: 0, refused: 0, dead: 0, alive: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 50, size: 'max' }), async (steps) => {
        const history = new History();
        try {
          await history.begin();
          let running: Promise<unknown>[] = [];
          for (const one of steps) {
            running.push(
              history.step(one).then(
                () => (counts.made += 1),
                (error: unknown) => {
                  counts.refused += 1;
                  if (!['ApiError', 'ProblemError', 'BusError'].includes((error as Error).name)) throw error;
                },
              ),
            );
            // A restart takes the store away from what runs.
            if (one.atOnce && one.what !== 'restart' && one.what !== 'join') continue;
            await Promise.all(running);
            running = [];
          }
          await Promise.all(running);
          await history.settle();
          const [first, ...others] = history.nodes.map(({ up: { store, settings, keys } }) => ({
            objects: store.objects(),
            committed: store.committed(),
            revocations: [...store.revocations].sort(),
            revision: store.revision,
            numbers: store.numbers,
            settings: settings.current(),
            keys: keys.pem(),
          }));
          for (const other of others) expect(other).to.deep.equal(first);
          expect(first?.committed).to.deep.equal(first?.objects);
          expect(history.faults).to.deep.equal([]);
          for (const { token, dead, user } of history.issued) {
            const taken = history.nodes.map((node) => node.takes(token));
            expect(new Set(taken).size, 'all nodes agree').to.equal(1);
            if (dead) expect(taken[0], `a token of ${user} that was ended`).to.equal(false);
            counts[taken[0] === true ? 'alive' : 'dead'] += 1;
          }
        } finally {
          await history.end();
        }
      }),
      { numRuns: 10 },
    );
    expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).to.be.greaterThan(0);
  }).timeout(180_000);
});
