import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { FakeCluster } from '../../../../support/cluster/fake-cluster.js';
import { FilesNode } from '../../../../support/cluster/files-node.js';
import { MemoryBlobs } from '../../../../support/cluster/memory-blobs.js';
import { eventually } from '../../../../support/eventually.js';
import { removeTree } from '../../../../support/remove-tree.js';

const NODES = ['n1', 'n2', 'n3'];
const GROUPS = ['default', 'web', 'db'];
const PATHS = ['agent.conf', 'list.txt', 'sub/deep.txt'];

const at = fc.nat({ max: NODES.length - 1 });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('write'),
      at,
      group: fc.constantFrom(...GROUPS),
      path: fc.constantFrom(...PATHS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('remove'),
      at,
      group: fc.constantFrom(...GROUPS),
      path: fc.constantFrom(...PATHS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rules'), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('away'), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('back'), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash'), at, torn: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.nat({ max: 300 }) }) },
);
type Step = {
  readonly kind: string;
  readonly at?: number;
  readonly group?: string;
  readonly path?: string;
  readonly torn?: boolean;
  readonly ms?: number;
};

/** Three nodes of which anything may be edited, cut off, and killed in the middle of taking files over. */
class Trial {
  readonly root = mkdtempSync(join(tmpdir(), 'converging-'));
  readonly cluster = new FakeCluster();
  readonly blobs = new MemoryBlobs();
  readonly nodes: readonly FilesNode[];
  /** All that was ever written, by path. */
  readonly written: { readonly path: string; readonly text: string; readonly node: FilesNode }[] = [];
  #count = 0;

  constructor() {
    this.cluster.master = 'n1';
    this.nodes = NODES.map((name) => new FilesNode(name, this.cluster, this.blobs, this.root));
    for (const [index, node] of this.nodes.entries()) {
      node.write('etc/shared/default/agent.conf', `of ${node.name}`);
      node.write(`etc/shared/${GROUPS[index] ?? ''}/own.txt`, node.name);
      node.start();
    }
  }

  async run(step: Step): Promise<void> {
    const node = this.nodes[step.at ?? 0] as FilesNode;
    const path = `etc/shared/${step.group ?? ''}/${step.path ?? ''}`;
    const text = `${String((this.#count += 1))} of ${node.name}`;
    if (step.kind === 'write') this.#write(node, path, text);
    else if (step.kind === 'rules') this.#write(node, `etc/rules/${node.name}.xml`, text);
    else if (step.kind === 'remove') node.remove(path);
    else if (step.kind === 'away') this.#cut(node, true);
    else if (step.kind === 'back') this.#cut(node, false);
    else if (step.kind === 'wait') await new Promise((resolve) => setTimeout(resolve, step.ms));
    else if (step.kind === 'crash') await this.#crash(node, step.torn === true);
  }

  #write(node: FilesNode, path: string, text: string): void {
    node.write(path, text);
    this.written.push({ path, text, node });
  }

  #cut(node: FilesNode, isAway: boolean): void {
    if (isAway) this.cluster.away.add(node.name);
    else this.cluster.away.delete(node.name);
    this.cluster.wake();
  }

  /** Dies, perhaps when some of the files of a set were switched and others lie beside their places. */
  async #crash(node: FilesNode, torn: boolean): Promise<void> {
    await node.stop();
    if (torn) {
      const other = this.nodes.find((each) => each !== node && !this.cluster.away.has(each.name));
      const [first, second] = Object.entries(other?.tree() ?? {});
      if (first !== undefined && first[0].includes('/default/')) node.write(...first);
      if (second !== undefined) node.write('etc/shared/default/.cluster-0123456789abcdef.tmp', second[1]);
    }
    node.restart();
  }

  /** All are there again: they come to the same. */
  async end(): Promise<void> {
    for (const node of this.nodes) this.#cut(node, false);
    await eventually('all are the same', () => {
      const trees = this.nodes.map((node) => JSON.stringify(node.tree()));
      const isSame = trees.every((tree) => tree === trees[0]);
      const facts = this.nodes.map(({ files }) => files.facts());
      return isSame && facts.every(({ ruleset, groups }) => ruleset.synced && groups.waiting === 0);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    removeTree(this.root);
  }
}

describe('files of the cluster, whatever happens', () => {
  it('all nodes come to the same, and nothing is left behind', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps: readonly Step[]) => {
        const trial = new Trial();
        try {
          for (const each of steps) await trial.run(each);
          await trial.end();
          const [first] = trial.nodes as readonly [FilesNode];
          const tree = first.tree();
          expect(Object.keys(tree).filter((path) => path.endsWith('.tmp'))).to.deep.equal([]);
          for (const node of trial.nodes) expect(node.logged('error')).to.deep.equal([]);
        } finally {
          await trial.close();
        }
      }),
      { numRuns: 12 },
    );
  }).timeout(180_000);
});
