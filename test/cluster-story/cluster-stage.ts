import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterView } from '../../lib/bus/contracts/clusterd.js';
import { eventually } from '../support/eventually.js';
import { NatsServers } from '../support/nats/nats-servers.js';
import { LOOPBACK, type Place } from '../support/place.js';
import { removeTree } from '../support/remove-tree.js';
import { ManagerNode, type NodeAdditions } from './manager-node.js';
import { OwnHosts } from './own-hosts.js';
import { SmallDisk } from './small-disk.js';

const NAMES = ['n1', 'n2', 'n3'] as const;
const ONE_MS = 90_000;
/** A home of a manager with all it has by then takes a third of that. */
const HOME_MIB = 256;
const STORE_MIB = 128;

/** What only hosts of their own have: links that can be lost, and disks and clocks of each. */
export type Surroundings = {
  readonly hosts: OwnHosts;
  /** By node. */
  readonly homes: ReadonlyMap<string, SmallDisk>;
  readonly stores: ReadonlyMap<string, SmallDisk>;
};
const NO_ADDITIONS: NodeAdditions = { configuration: '', cluster: '' };

/** Three NATS servers and three managers on this machine, and the end of all that. */
export class ClusterStage {
  readonly directory = mkdtempSync(join(tmpdir(), 'svc-cluster-'));
  readonly #ownHosts: boolean;
  #nodes: readonly ManagerNode[] = [];
  #servers: NatsServers | undefined;
  #surroundings: Surroundings | undefined;

  /** @param ownHosts whether each node has a network, disks and a clock of its own; needs root and a network that is the test's */
  constructor(ownHosts = false) {
    this.#ownHosts = ownHosts;
  }

  get nodes(): readonly ManagerNode[] {
    return this.#nodes;
  }

  get servers(): NatsServers {
    if (this.#servers === undefined) throw new Error('the stage is not set');
    return this.#servers;
  }

  /** Undefined where all nodes are on the loopback address. */
  get surroundings(): Surroundings | undefined {
    return this.#surroundings;
  }

  /** @throws RangeError */
  node(at: number): ManagerNode {
    const node = this.nodes[at];
    if (node === undefined) throw new RangeError(`there is no node ${at}`);
    return node;
  }

  /** Resolves when the three are one. @param prepare called for each before it is started */
  async set(
    say: (text: string) => void,
    additions: NodeAdditions = NO_ADDITIONS,
    prepare: (node: ManagerNode) => void = () => {},
  ): Promise<void> {
    say(`Making three managers and three NATS servers in ${this.directory}`);
    if (this.#ownHosts) this.#surroundings = await this.#makeSurroundings();
    const hosts = this.#surroundings?.hosts;
    const places = hosts === undefined ? [] : NAMES.map((name) => hosts.place(name));
    const servers = await NatsServers.start({ cluster: 'demo', places, stores: join(this.directory, 'stores') });
    this.#servers = servers;
    this.#nodes = NAMES.reduce<ManagerNode[]>((made, name, at) => {
      const place: Place = { ...(places[at] ?? LOOPBACK), env: this.#environment(name) };
      return [...made, new ManagerNode(name, this.directory, place, made[0])];
    }, []);
    await Promise.all(this.nodes.map((node) => node.make(join(servers.folder, node.name), additions)));
    // The first one brings its users, whose passwords are then those of all.
    for (const node of this.nodes) {
      prepare(node);
      await node.start();
      await this.agreed([node]);
      say(`Manager ${node.name} runs and has joined.`);
    }
    await this.agreed();
  }

  /** Resolves when these nodes can all change what is shared and have the same of it. */
  async agreed(nodes: readonly ManagerNode[] = this.nodes): Promise<void> {
    let seen: readonly (ClusterView | undefined)[] = [];
    const isAgreed = async (): Promise<boolean> => {
      seen = await Promise.all(nodes.map((node) => node.view()));
      const revisions = new Set(seen.map((view) => view?.revision));
      return seen.every((view) => view?.writable === true) && revisions.size === 1;
    };
    await eventually('the nodes agree', isAgreed, ONE_MS).catch((error: unknown) => {
      const views = seen.map((view) => `${view?.self ?? '?'}: ${view?.problem ?? ''} ${view?.revision ?? ''}`);
      throw new Error(`The nodes do not agree: ${views.join('; ')}`, { cause: error });
    });
  }

  /** Puts the clock of a node forward or back, of every program that runs there. @param milliseconds from the true one */
  setClock(name: string, milliseconds: number): void {
    writeFileSync(this.#clock(name), String(milliseconds));
  }

  /** Copies the logs and alerts of the managers, and what the NATS servers said, to a folder that stays. @returns the folder */
  keepLogs(): string {
    const folder = mkdtempSync(join(tmpdir(), 'svc-cluster-logs-'));
    for (const { name, host } of this.nodes) {
      cpSync(host.home.path('logs'), join(folder, name), { recursive: true });
      writeFileSync(join(folder, `${name}-nats-server.log`), this.servers.server(name).output);
    }
    return folder;
  }

  /** Ends everything, whatever state it is in. */
  async strike(): Promise<void> {
    for (const node of this.nodes) node.signal('SIGCONT');
    const ends = await Promise.allSettled(this.nodes.map((node) => node.end()));
    await Promise.all(this.nodes.map((node) => node.kill()));
    await this.#servers?.close();
    const { hosts, homes, stores } = this.#surroundings ?? {};
    for (const disk of [...(homes?.values() ?? []), ...(stores?.values() ?? [])]) await disk.close();
    hosts?.close();
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw new Error(`${this.directory} is left as it is`, { cause: failed.reason });
    removeTree(this.directory);
  }

  async #makeSurroundings(): Promise<Surroundings> {
    const disks = async (mebibytes: number, ...folder: string[]): Promise<Map<string, SmallDisk>> => {
      const made = new Map<string, SmallDisk>();
      for (const name of NAMES) {
        made.set(name, await SmallDisk.make(join(this.directory, ...folder, name), mebibytes));
      }
      return made;
    };
    return {
      hosts: await OwnHosts.make(NAMES),
      homes: await disks(HOME_MIB),
      stores: await disks(STORE_MIB, 'stores'),
    };
  }

  #environment(name: string): Record<string, string> {
    if (!this.#ownHosts) return {};
    const clock = new URL('skewed-clock.js', import.meta.url).href;
    return { SVC_TEST_CLOCK: this.#clock(name), NODE_OPTIONS: `--import ${clock}` };
  }

  #clock(name: string): string {
    return join(this.directory, `clock-${name}`);
  }
}
