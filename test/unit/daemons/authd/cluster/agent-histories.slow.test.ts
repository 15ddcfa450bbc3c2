import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import type { AgentKey } from '../../../../../lib/agentlink/agent-key.js';
import { BusError } from '../../../../../lib/bus/bus-error.js';
import type { RecordKind } from '../../../../../lib/bus/contracts/clusterd.js';
import type { ClusterdClient, RecordChange } from '../../../../../lib/cluster/shared-records.js';
import { AuthdNode } from '../../../../support/authd/authd-node.js';
import { FakeCluster } from '../../../../support/cluster/fake-cluster.js';
import { eventually } from '../../../../support/eventually.js';

const NODES = 3;
const SEEDED = ['svc-authd', 'svc-db'];

/** What happens to a commit: as it should, made but not answered, not made, or half of it before others are quicker. */
const FATES = ['made', 'made', 'made', 'unanswered', 'lost', 'half'] as const;
const DAMAGES = ['none', 'gone', 'cut', 'garbage'] as const;

type Step = { readonly node: number } & (
  | { readonly what: 'add'; readonly name: string }
  | { readonly what: 'remove'; readonly nth: number }
  | { readonly what: 'restart'; readonly damage: (typeof DAMAGES)[number] }
);

const node = fc.nat(NODES - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ what: fc.constant('add' as const), node, name: fc.constantFrom(...'abcdefgh') }),
  },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('remove' as const), node, nth: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('restart' as const), node, damage: fc.constantFrom(...DAMAGES) }),
  },
);
const history = fc.record({
  fates: fc.array(fc.constantFrom(...FATES), { minLength: 1, maxLength: 30 }),
  /** What happens at the same time. */
  turns: fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 }),
});

/** A cluster whose commits fail as they were drawn, and what its hosts and operators were answered. */
class History {
  readonly cluster = new FakeCluster();
  readonly nodes: AuthdNode[] = [];
  /** Keys that hosts have got. */
  readonly answered: AgentKey[] = [];
  /** Ids that somebody wanted to be removed, answered or not. */
  readonly mayBeGone = new Set<string>();
  readonly removed = new Set<string>();
  restarts = 0;
  #fates: (typeof FATES)[number][];

  constructor(fates: readonly (typeof FATES)[number][]) {
    this.#fates = [...fates];
  }

  async start(index: number, old?: AuthdNode): Promise<void> {
    const name = `n${index}`;
    const used = old === undefined ? {} : { home: old.home, table: old.table };
    this.nodes[index] = await AuthdNode.start({ name, client: this.#client(name), ...used });
    await this.nodes[index].loaded();
  }

  async take(given: Step): Promise<void> {
    const at = this.#node(given.node);
    if (given.what === 'add') return this.#add(at, `host-${given.name}`);
    if (given.what === 'remove') return this.#remove(at, given.nth);
    return undefined;
  }

  async restart(index: number, damage: (typeof DAMAGES)[number]): Promise<void> {
    const old = this.#node(index);
    this.restarts += 1;
    await old.stop();
    const path = old.home.path('etc', 'client.keys');
    if (damage === 'gone') rmSync(path, { force: true });
    if (damage === 'cut') {
      writeFileSync(
        path,
        old.lines
          .slice(1)
          .map((line) => `${line}\n`)
          .join(''),
      );
    }
    if (damage === 'garbage') appendFileSync(path, '007 x');
    await this.start(index, old);
  }

  /** Everything goes well from now on. */
  async settle(): Promise<void> {
    this.#fates = [];
    for (const at of this.nodes) {
      await at.registry.refresh();
      await at.cluster.look();
    }
    await eventually('all nodes have the same', async () => {
      await Promise.all(this.nodes.map((at) => at.cluster.look()));
      return this.nodes.every(
        (at) => at.live.join() === this.agents.join() && at.table.rows.size === this.agents.length,
      );
    });
  }

  get agents(): string[] {
    const records = [...this.cluster.records.values()].filter(({ kind, key }) => kind === 'agent' && key !== 'removed');
    return records
      .flatMap(({ key, value }) => {
        const record = value as { name: string; ip: string; key: string } | null;
        return record === null ? [] : [`${key} ${record.name} ${record.ip} ${record.key}`];
      })
      .sort();
  }

  #node(index: number): AuthdNode {
    const at = this.nodes[index];
    if (at === undefined) throw new TypeError(`no node ${index}`);
    return at;
  }

  async #add(at: AuthdNode, name: string): Promise<void> {
    await at.add(name).then(
      (agent) => this.answered.push(agent),
      () => {},
    );
  }

  async #remove(at: AuthdNode, nth: number): Promise<void> {
    const agents = [...at.registry.agents];
    const id = agents[nth % Math.max(1, agents.length)]?.id;
    if (id === undefined) return;
    this.mayBeGone.add(id);
    await at.enroller.remove([id], nth % 2 === 0).then(
      () => this.removed.add(id),
      () => {},
    );
  }

  #client(name: string): ClusterdClient {
    const client = this.cluster.client(name, SEEDED);
    const call = async (method: string, params: unknown, options: unknown): Promise<unknown> => {
      const made = () => client.call(method as 'ping', params as never, options as never) as Promise<unknown>;
      const fate = method === 'records.commit' ? this.#fates.shift() : undefined;
      switch (fate) {
        case 'unanswered':
          await made();
          throw new BusError('timeout', 'no answer');
        case 'lost':
          throw new BusError('cluster_unavailable', 'no quorum');
        case 'half': {
          const { basis, kinds, changes } = params as { basis: number; kinds: RecordKind[]; changes: RecordChange[] };
          const half = changes.slice(0, Math.ceil(changes.length / 2));
          await client.call('records.commit', { basis, kinds, changes: half });
          throw new BusError('stale', 'others were quicker');
        }
        default:
          return made();
      }
    };
    return { call } as unknown as ClusterdClient;
  }
}

describe('agents of a cluster over random histories', function () {
  this.timeout(240_000);

  it('gives no id to two, has each name once, and keeps its word', async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ fates, turns }) => {
        const story = new History(fates);
        try {
          for (let index = 0; index < NODES; index += 1) await story.start(index);
          for (const turn of turns) {
            await Promise.all(turn.map((given) => story.take(given)));
            for (const given of turn) if (given.what === 'restart') await story.restart(given.node, given.damage);
          }
          await story.settle();
          check(story);
        } finally {
          await Promise.all(story.nodes.map((at) => at.stop()));
          for (const { home } of story.nodes) home.remove();
        }
      }),
      { numRuns: 30 },
    );
  });
});

function check({ agents, answered, removed, mayBeGone, restarts }: History): void {
  const names = agents.map((line) => line.split(' ')[1]);
  expect(new Set(names).size, 'each name once').to.equal(names.length);
  const owners = new Map<string, string>();
  for (const { id, name } of answered) {
    expect(owners.get(id) ?? name, `id ${id}`).to.equal(name);
    owners.set(id, name);
  }
  for (const line of agents) {
    const [id = '', name] = line.split(' ');
    expect(owners.get(id) ?? name, `id ${id}`).to.equal(name);
    expect(removed.has(id), `${id} was removed`).to.equal(false);
  }
  const last = new Map(answered.map((agent) => [agent.id, agent]));
  for (const { id, name, ip, rawKey } of last.values()) {
    if (!mayBeGone.has(id)) expect(agents, `${id} was answered`).to.include(`${id} ${name} ${ip} ${rawKey}`);
  }
  // What a process forgets that ends is marked by the next one: it stays until its host comes again.
  if (restarts > 0) return;
  const known = new Set(answered.map(({ id, name, ip, rawKey }) => `${id} ${name} ${ip} ${rawKey}`));
  expect(
    agents.filter((line) => !known.has(line)),
    'nobody was told of them',
  ).to.deep.equal([]);
}
