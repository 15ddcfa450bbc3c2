import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { NatsServers } from '../support/nats/nats-servers.js';
import { removeTree } from '../support/remove-tree.js';
import { ManagerNode } from './manager-node.js';

const FURTHER = ['n2', 'n3'] as const;
const ONE_MS = 90_000;

/** Three NATS servers and three managers on this machine, and the end of all that. */
export class ClusterStage {
  readonly directory = mkdtempSync(join(tmpdir(), 'svc-cluster-'));
  readonly nodes: readonly ManagerNode[];
  #servers: NatsServers | undefined;

  constructor() {
    const first = new ManagerNode('n1', this.directory);
    this.nodes = [first, ...FURTHER.map((name) => new ManagerNode(name, this.directory, first))];
  }

  get servers(): NatsServers {
    if (this.#servers === undefined) throw new Error('the stage is not set');
    return this.#servers;
  }

  /** @throws RangeError */
  node(at: number): ManagerNode {
    const node = this.nodes[at];
    if (node === undefined) throw new RangeError(`there is no node ${at}`);
    return node;
  }

  /** Resolves when the three are one. */
  async set(say: (text: string) => void): Promise<void> {
    say(`Making three managers and three NATS servers in ${this.directory}`);
    const servers = await NatsServers.start({ cluster: 'demo' });
    this.#servers = servers;
    await Promise.all(this.nodes.map((node) => node.make(join(servers.folder, node.name))));
    // The first one brings its users, whose passwords are then those of all.
    for (const node of this.nodes) {
      await node.start();
      await this.agreed([node]);
      say(`Manager ${node.name} runs and has joined.`);
    }
    await this.agreed();
  }

  /** Resolves when these nodes can all change what is shared and have the same of it. */
  async agreed(nodes: readonly ManagerNode[] = this.nodes): Promise<void> {
    await eventually(
      'the nodes agree',
      async () => {
        const views = await Promise.all(nodes.map((node) => node.view()));
        const revisions = new Set(views.map((view) => view?.revision));
        return views.every((view) => view?.writable === true) && revisions.size === 1;
      },
      ONE_MS,
    );
  }

  /** Ends everything, whatever state it is in. */
  async strike(): Promise<void> {
    for (const node of this.nodes) node.signal('SIGCONT');
    const ends = await Promise.allSettled(this.nodes.map((node) => node.end()));
    await Promise.all(this.nodes.map((node) => node.kill()));
    await this.#servers?.close();
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw new Error(`${this.directory} is left as it is`, { cause: failed.reason });
    removeTree(this.directory);
  }
}
