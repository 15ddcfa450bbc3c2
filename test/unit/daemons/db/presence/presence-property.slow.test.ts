import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { PresenceCluster, type PresenceNode } from '../../../../support/db/presence-cluster.js';
import { removeTree } from '../../../../support/remove-tree.js';

const NODES = ['a', 'b', 'c'];
const AGENTS = [1, 2, 3, 4, 5];
/** Seconds. */
const LARGEST_SKEW = 60;

const node = fc.constantFrom(...NODES);
const agent = fc.constantFrom(...AGENTS);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('connect' as const), agent, node }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), agent }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const), node, loses: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), node }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('part' as const), node: fc.option(node) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lose' as const), share: fc.integer({ min: 0, max: 100 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      node,
      skew: fc.integer({ min: -LARGEST_SKEW, max: LARGEST_SKEW }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stale' as const), node }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lost' as const), node }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 12 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What is true: where agents are connected, whatever the nodes know of it. */
class Truth {
  readonly at = new Map<number, string>();
  readonly #told = new Set<number>();

  constructor(
    readonly cluster: PresenceCluster,
    readonly directory: string,
    private readonly random: () => number,
  ) {}

  async take(one: Step): Promise<void> {
    const { cluster } = this;
    switch (one.do) {
      case 'connect': {
        if (!cluster.node(one.node).isUp) return;
        this.at.set(one.agent, one.node);
        this.#told.delete(one.agent);
        await cluster.node(one.node).status(one.agent, 'pending');
        await this.#keepalive(one.agent);
        return;
      }
      case 'end': {
        const name = this.at.get(one.agent);
        this.at.delete(one.agent);
        if (name !== undefined) await cluster.node(name).status(one.agent, 'disconnected');
        return;
      }
      case 'restart':
      case 'kill': {
        const target = cluster.node(one.node);
        for (const [id, name] of this.at) if (name === one.node) this.at.delete(id);
        if (target.isUp) await target.stop();
        if (one.do === 'kill') return;
        if (one.loses) removeTree(join(this.directory, one.node));
        await this.#start(target);
        return;
      }
      case 'part':
        cluster.connects = (from, to) => one.node === null || (from !== one.node && to !== one.node);
        return;
      case 'lose':
        cluster.loses = () => this.random() * 100 < one.share;
        return;
      case 'clock':
        cluster.node(one.node).skew = one.skew;
        return;
      case 'stale':
      case 'lost':
        await this.#judge(one.do, cluster.node(one.node));
        return;
      case 'pass':
        await this.pass(one.seconds);
    }
  }

  /** Time passes, with the keepalives of those that are connected every ten seconds. */
  async pass(seconds: number): Promise<void> {
    for (let at = 0; at < seconds; at += 1) {
      if (this.cluster.milliseconds % 10_000 === 0) for (const id of this.at.keys()) await this.#keepalive(id);
      await this.cluster.second();
    }
  }

  async heal(): Promise<void> {
    this.cluster.connects = () => true;
    this.cluster.loses = () => false;
    // No keepalive is later than now.
    for (const each of this.cluster.nodes) each.skew = LARGEST_SKEW;
    for (const each of this.cluster.nodes) if (!each.isUp) await this.#start(each);
    await this.pass(40);
    for (const each of this.cluster.nodes) await this.#judge('stale', each);
    await this.pass(20);
  }

  async #start(target: PresenceNode): Promise<void> {
    await target.start();
    await target.register(...AGENTS.filter((id) => target.record(id) === undefined));
    this.cluster.milliseconds += 6000;
    await target.connections['agents.reset_connections']({ at: target.seconds });
  }

  async #keepalive(id: number): Promise<void> {
    const name = this.at.get(id);
    if (name === undefined) return;
    const { incomplete } = await this.cluster.node(name).keepalive(id, !this.#told.has(id));
    this.#told.add(id);
    // As svc-remoted does.
    if (incomplete.length > 0) this.#told.delete(id);
  }

  async #judge(what: 'stale' | 'lost', target: PresenceNode): Promise<void> {
    if (!target.isUp) return;
    const { seconds } = target;
    if (what === 'stale') {
      await target.connections['agents.disconnect_stale']({ before: seconds - 30, at: seconds });
    } else {
      this.cluster.fake.master = target.name;
      await target.call('agents.lost', { seconds: 5, disconnect: true, at: seconds });
    }
  }
}

describe('where agents are, whatever happens', () => {
  it('comes to what the nodes say that have them', async function () {
    this.timeout(180_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.integer(), async (steps, seed) => {
        const directory = mkdtempSync(join(tmpdir(), 'presence-'));
        const cluster = new PresenceCluster(directory, NODES);
        const truth = new Truth(cluster, directory, randomOf(seed));
        try {
          await cluster.start();
          for (const each of cluster.nodes) await each.register(...AGENTS);
          for (const one of steps) await truth.take(one);
          await truth.heal();
          for (const id of AGENTS) {
            const [first, ...others] = cluster.nodes.map((each) => each.told(id));
            for (const other of others) expect(other, `agent ${id}`).to.deep.equal(first);
            const name = truth.at.get(id);
            if (name === undefined) expect(first?.status, `agent ${id}`).to.not.equal('active');
            else expect(first, `agent ${id}`).to.include({ node: name, status: 'active', manager: `host-${name}` });
          }
        } finally {
          await cluster.stop();
          removeTree(directory);
        }
      }),
      { numRuns: 25 },
    );
  });
});

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}
