import * as z from 'zod';
import { clusterdContract, type ClusterNode, type ClusterView } from '../../lib/bus/contracts/clusterd.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { AGENT_STATUSES, MAX_AGENTS_PER_PAGE } from '../../lib/bus/contracts/db-agents.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { Home } from '../../lib/home/home.js';
import { HomeError, readHomeRecord } from '../../lib/home/home-record.js';
import { whyUnavailable } from '../terminal/why-unavailable.js';

const FIELDS = ['id', 'name', 'ip', 'status', 'version', 'node_name'];

const agentSchema = z.object({
  id: z.string(),
  name: z.string(),
  ip: z.string().optional(),
  status: z.enum(AGENT_STATUSES),
  version: z.string().optional(),
  node_name: z.string().optional(),
});

/** An agent and the node where it is connected. */
export type ClusterAgent = z.output<typeof agentSchema>;

/** No cluster is switched on, or its daemon is away. */
export class NotRunningError extends Error {
  override readonly name = 'NotRunningError';
}

/** What `cluster_control` shows: it asks svc-clusterd who is there, and svc-db which agents there are. */
export class ClusterControl {
  readonly #clusterd: RequestClient<typeof clusterdContract>;
  readonly #db: RequestClient<typeof dbContract>;

  /** @throws HomeError when the home is no manager's; NotRunningError; ConfigError */
  constructor(home: Home) {
    if (readHomeRecord(home).role !== 'server') throw new HomeError(`'${home.root}' is no manager's home`);
    const { cluster } = loadManagerConfig(home, ['cluster']);
    if (cluster === undefined || cluster.disabled) throw new NotRunningError('Cluster is not running.');
    const parts = (daemon: 'svc-clusterd' | 'svc-db') => ({
      path: home.socket(daemon),
      describeAbsence: (reason: string) => whyUnavailable(home, daemon, reason),
    });
    this.#clusterd = new RequestClient({ contract: clusterdContract, ...parts('svc-clusterd') });
    this.#db = new RequestClient({ contract: dbContract, ...parts('svc-db') });
  }

  /** The cluster and its nodes by name; away ones are left out. @param names of nodes; empty for all */
  async nodes(
    names: readonly string[],
  ): Promise<{ readonly view: ClusterView; readonly nodes: readonly ClusterNode[] }> {
    const view = await this.#clusterd.call('cluster.view', {});
    const nodes = view.nodes.filter(({ name, present }) => present && (names.length === 0 || names.includes(name)));
    return { view, nodes };
  }

  /** Agents of these nodes, with these statuses; empty for all. By id, pages at a time. */
  async *agents(
    nodes: readonly string[],
    statuses: readonly (typeof AGENT_STATUSES)[number][],
  ): AsyncGenerator<readonly ClusterAgent[]> {
    const filter = {
      ...(nodes.length === 0 ? {} : { node_name: [...nodes] }),
      ...(statuses.length === 0 ? {} : { status: [...statuses] }),
    };
    for (let offset = 0; ;) {
      const params = { ...filter, offset, limit: MAX_AGENTS_PER_PAGE, select: FIELDS };
      const { items, total } = await this.#db.call('agents.list', params);
      yield z.array(agentSchema).parse(items);
      offset += items.length;
      if (items.length === 0 || offset >= total) return;
    }
  }

  close(): void {
    this.#clusterd.close();
    this.#db.close();
  }
}
