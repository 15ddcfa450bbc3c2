import { rmSync } from 'node:fs';
import { SharedGroups } from '../../../daemons/db/groups/shared-groups.js';
import { ensureManagerAgent } from '../../../daemons/db/manager-agent.js';
import { Registry } from '../../../daemons/db/registry.js';
import type { CallParams, CallResult } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { FakeCluster } from '../cluster/fake-cluster.js';
import { eventually } from '../eventually.js';
import { RecordingLogger } from '../recording-logger.js';
import { callRegistry, type RegistryMethod } from './registry-calls.js';

const NOW = 1_795_000_000;

/** What of a node all nodes are to have in common. */
export type GroupTables = {
  readonly groups: Readonly<Record<string, number>>;
  /** Groups of agents by id. */
  readonly agents: Readonly<Record<string, readonly string[]>>;
};

/** The registry of one node of several, with the groups that they have in common. */
export class GroupNode {
  readonly logger = new RecordingLogger();

  private constructor(
    readonly name: string,
    private readonly cluster: FakeCluster,
    private readonly directory: string,
    public registry: Registry,
    public groups: SharedGroups,
  ) {}

  /**
   * @param directory of its registry, kept from one start to the next
   * @param seeded daemons that have brought what this node had
   */
  static async start(
    cluster: FakeCluster,
    name: string,
    directory: string,
    seeded: readonly string[] = ['svc-authd', 'svc-db'],
  ): Promise<GroupNode> {
    const registry = await openRegistry(directory);
    const node = new GroupNode(name, cluster, directory, registry, undefined as never);
    node.join(seeded);
    return node;
  }

  /** Follows the cluster. */
  join(seeded: readonly string[]): void {
    const { cluster, name, logger, registry } = this;
    this.groups = new SharedGroups({ registry, client: cluster.client(name, seeded), logger });
    this.groups.start();
  }

  call<M extends RegistryMethod>(
    method: M,
    params: CallParams<typeof dbContract, M>,
  ): Promise<CallResult<typeof dbContract, M>> {
    return callRegistry(this.registry, () => NOW * 1000, method, params, this.groups);
  }

  /** Waits until all records there are now are in force. */
  async caughtUp(): Promise<void> {
    const { revision } = this.cluster;
    await eventually(`revision ${revision} at ${this.name}`, () => {
      const now = this.groups.stats()['shared_groups'] as { revision: number; loaded: boolean };
      return now.loaded && now.revision >= revision;
    });
  }

  tables(): GroupTables {
    const { groups, agents } = this.registry;
    const rows = agents.byId().filter(({ id }) => id !== 0);
    return {
      groups: Object.fromEntries([...groups].map(([name, { dateAdd }]) => [name, dateAdd] as const).sort()),
      agents: Object.fromEntries(rows.map((row) => [row.idText, row.record.groups])),
    };
  }

  /** What was on the disk is what there is. */
  async restart(): Promise<void> {
    await this.stop();
    await this.startAgain();
  }

  async startAgain(): Promise<void> {
    this.registry = await openRegistry(this.directory);
    this.join(['svc-authd', 'svc-db']);
  }

  async stop(): Promise<void> {
    await this.groups.close();
    await this.registry.close();
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

async function openRegistry(directory: string): Promise<Registry> {
  const registry = await Registry.open(directory, () => {});
  await registry.ensureDefaultGroup(NOW);
  await ensureManagerAgent(registry, 'manager1', 'node01', NOW);
  return registry;
}
