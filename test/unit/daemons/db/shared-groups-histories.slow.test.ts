import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { DEFAULT_GROUP } from '../../../../daemons/db/membership.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { MAX_GROUPS_PER_AGENT } from '../../../../lib/bus/contracts/db-groups.js';
import { FakeCluster } from '../../../support/cluster/fake-cluster.js';
import { GroupNode } from '../../../support/db/group-node.js';

const NOW = 1_795_000_000;
const NODES = ['a', 'b', 'c'];
const GROUPS = ['web', 'db', 'mail', 'site'];
const AGENTS = ['001', '002', '003', '004'];
/** What callers are prepared for: another was faster. */
const EXPECTED = new Set(['group_exists', 'unknown_group', 'agent_exists', 'unknown_agent', 'cluster_unavailable']);

const node = fc.nat(2);
const id = fc.constantFrom(...AGENTS);
const groups = fc.uniqueArray(fc.constantFrom(...GROUPS, DEFAULT_GROUP), { minLength: 1, maxLength: 4 });
const steps = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), node, name: fc.constantFrom(...GROUPS) }),
  fc.record({ kind: fc.constant('appear' as const), node, id }),
  fc.record({ kind: fc.constant('remove' as const), node, names: fc.subarray(GROUPS, { minLength: 1 }) }),
  fc.record({
    kind: fc.constant('membership' as const),
    node,
    mode: fc.constantFrom('append' as const, 'override' as const, 'remove' as const, 'empty_only' as const),
    agents: fc.array(fc.record({ id, groups }), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('enrol' as const),
    node,
    id,
    groups: fc.option(groups, { nil: undefined }),
    /** Whether its groups come with its key, as from svc-authd, or are svc-db's to bring about. */
    atOnce: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('appear' as const), node, id }),
  fc.record({ kind: fc.constant('leave' as const), id, leavesGroups: fc.boolean() }),
  fc.record({ kind: fc.constant('keepalive' as const), node, id }),
  fc.record({ kind: fc.constant('hold' as const), node }),
  fc.record({ kind: fc.constant('away' as const) }),
  fc.record({ kind: fc.constant('restart' as const), node }),
  fc.record({ kind: fc.constant('interrupt' as const), made: fc.integer({ min: 1, max: 3 }) }),
);
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never;
/** What is done at the same time, one round after the other. */
const rounds = fc.array(fc.array(steps, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 });

/** Several nodes, what is done at them, and what is always so. */
class Course {
  readonly nodes: GroupNode[] = [];
  /** Agents that have a key, and those whose numbers were given. */
  readonly #keys = new Set<string>();
  readonly #given = new Set<string>();
  #interrupts: number[] = [];

  constructor(private readonly cluster: FakeCluster) {
    cluster.pageSize = 3;
    cluster.interrupt = (changes) => {
      const made = changes.length > 1 ? this.#interrupts.shift() : undefined;
      return made === undefined ? undefined : Math.min(made, changes.length - 1);
    };
  }

  async round(together: readonly Step[]): Promise<void> {
    const work = together.map((step) => this.#step(step));
    const checks = this.nodes.map((each) => this.#check(each));
    await Promise.all(checks);
    for (const name of NODES) this.cluster.release(name);
    for (const outcome of await Promise.allSettled(work)) {
      if (outcome.status === 'fulfilled') continue;
      const reason: unknown = outcome.reason;
      expect(reason).to.be.instanceOf(BusError);
      expect(EXPECTED).to.include((reason as BusError).code);
    }
    for (const each of this.nodes) await this.#check(each);
    this.cluster.unwritable = undefined;
    for (const step of together) if (step.kind === 'restart') await this.#node(step.node).restart();
  }

  /** Agents are known everywhere, and nothing is on its way any more. */
  async end(): Promise<void> {
    for (const each of this.nodes) {
      await each.caughtUp();
      for (const known of this.#keys) await register(each, known, undefined).catch(expected);
      const gone = Object.keys(each.tables().agents).filter((known) => !this.#keys.has(known));
      await each.call('agents.remove', { ids: gone });
    }
    for (const each of this.nodes) {
      await each.groups.tidy();
      await each.groups.tidy();
    }
    for (const each of this.nodes) await each.caughtUp();
    const [first] = this.nodes;
    for (const each of this.nodes) {
      await this.#check(each);
      expect(each.tables(), each.name).to.deep.equal(first?.tables());
    }
    const members = [...this.cluster.records.values()].filter(({ kind, value }) => kind === 'member' && value !== null);
    for (const { key } of members) expect(this.#keys, 'what is left of agents').to.include(key);
  }

  #isGroup(name: string): boolean {
    return name === DEFAULT_GROUP || this.cluster.value('group', name) !== undefined;
  }

  #node(index: number): GroupNode {
    const found = this.nodes[index];
    if (found === undefined) throw new Error('no such node');
    return found;
  }

  async #step(step: Step): Promise<unknown> {
    switch (step.kind) {
      case 'create':
        return this.#node(step.node).call('groups.create', { name: step.name });
      case 'remove':
        return this.#node(step.node).call('groups.remove', { names: step.names });
      case 'membership':
        return this.#node(step.node).call('agents.membership', { mode: step.mode, agents: step.agents });
      case 'enrol':
        if (this.#given.has(step.id)) return undefined;
        this.#given.add(step.id);
        this.#keys.add(step.id);
        this.cluster.commit([
          ...(step.atOnce && step.groups?.every((name) => this.#isGroup(name)) === true
            ? ([{ kind: 'member', key: step.id, value: { groups: step.groups } }] as const)
            : []),
          { kind: 'agent', key: step.id, value: key(step.id) },
        ]);
        return register(this.#node(step.node), step.id, step.groups);
      case 'appear':
        return this.#keys.has(step.id) ? register(this.#node(step.node), step.id, undefined) : undefined;
      case 'leave': {
        if (!this.#keys.delete(step.id)) return undefined;
        const kinds = step.leavesGroups ? (['agent'] as const) : (['member', 'agent'] as const);
        this.cluster.commit(kinds.map((kind) => ({ kind, key: step.id, value: null })));
        return Promise.all(this.nodes.map((each) => each.call('agents.remove', { ids: [step.id] })));
      }
      case 'keepalive':
        return this.#node(step.node).call('agents.keepalives', { agents: [{ id: step.id, at: NOW }] });
      case 'hold':
        this.cluster.hold(this.#node(step.node).name);
        return undefined;
      case 'away':
        this.cluster.unwritable = 'away';
        return undefined;
      case 'interrupt':
        this.#interrupts.push(step.made);
        return undefined;
      case 'restart':
        return undefined;
    }
  }

  /** What is so at every node at every moment. */
  async #check(each: GroupNode): Promise<void> {
    const { groups: there, agents } = each.tables();
    expect(there).to.have.property(DEFAULT_GROUP);
    for (const [agent, list] of Object.entries(agents)) {
      expect(list, agent).to.not.have.lengthOf(0);
      expect(list.length).to.be.at.most(MAX_GROUPS_PER_AGENT);
      expect(new Set(list).size).to.equal(list.length);
      for (const name of list) expect(there, `${each.name}: ${agent} in ${name}`).to.have.property(name);
    }
    const counts = await each.call('groups.list', {});
    for (const { name, count } of counts.groups) {
      expect(count).to.equal(Object.values(agents).filter((list) => list.includes(name)).length);
    }
  }
}

const key = (agent: string) => ({ name: `agent-${agent}`, ip: 'any', key: 'k', dateAdd: NOW });
const register = (at: GroupNode, agent: string, wanted: readonly string[] | undefined) =>
  at.call('agents.register', {
    id: agent,
    name: `agent-${agent}`,
    dateAdd: NOW,
    ...(wanted === undefined ? {} : { groups: [...wanted] }),
  });
const expected = (error: unknown): void => {
  expect((error as BusError).code).to.equal('agent_exists');
};

describe('groups of several nodes, whatever is done at once', () => {
  it('are the same at all in the end, and at each at every moment what groups can be', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, async (course) => {
        const cluster = new FakeCluster();
        const run = new Course(cluster);
        try {
          for (const name of NODES) {
            const directory = mkdtempSync(join(tmpdir(), 'svc-db-'));
            run.nodes.push(await GroupNode.start(cluster, name, directory));
            await run.nodes.at(-1)?.caughtUp();
          }
          const made = GROUPS.map((name) => ({ kind: 'create', node: 0, name }) as const);
          const first = AGENTS.map((id, at) => ({
            ...({ kind: 'enrol', node: at % 3, id, groups: GROUPS.slice(at), atOnce: at % 2 === 0 } as const),
          }));
          for (const together of [made, first.slice(1), ...course]) await run.round(together);
          await run.end();
          for (const each of run.nodes) await each.restart();
          await run.end();
        } finally {
          await Promise.all(run.nodes.map((each) => each.remove()));
        }
      }),
      { numRuns: 15 },
    );
  }).timeout(300_000);
});
