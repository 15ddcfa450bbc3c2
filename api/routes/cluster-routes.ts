import type { ClusterNode } from '../../lib/bus/contracts/clusterd.js';
import { readDaemonStatus, shownState } from '../../lib/daemon/daemon-status.js';
import type { Home } from '../../lib/home/home.js';
import { COMPATIBILITY_VERSION } from '../../lib/product/version.js';
import type { ClusterMembers } from '../cluster/cluster-members.js';
import { NodeFailure } from '../cluster/node-failure.js';
import { nodeHealth } from '../cluster/node-health.js';
import { nodesInSync } from '../cluster/ruleset-state.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { dataResult, type FailedItem, type ListMessages, listResult } from '../http/envelope.js';
import { pageOf } from '../lists/list-parameters.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';

const LOCAL_MESSAGES: ListMessages = {
  all: 'All selected information was returned',
  some: 'No information was returned',
  none: 'No information was returned',
};
const NODES_MESSAGES: ListMessages = {
  all: 'All selected nodes information was returned',
  some: 'Some nodes information was not returned',
  none: 'No information was returned',
};
const HEALTH_MESSAGES: ListMessages = {
  all: 'All selected nodes healthcheck information was returned',
  some: 'Some nodes healthcheck information was not returned',
  none: 'No healthcheck information was returned',
};
const SYNC_MESSAGES: ListMessages = {
  all: 'Nodes ruleset synchronization status was successfully read',
  some: 'Could not read ruleset synchronization status in some nodes',
  none: 'Could not read ruleset synchronization status',
};
const NODE_FIELDS = ['name', 'type', 'version', 'ip'];
/** What stands in the place of a secret. */
const MASK = '*****';

export type ClusterRouteParts = {
  readonly home: Home;
  readonly configuration: ManagerConfiguration;
  readonly members: ClusterMembers;
  readonly db: DbClient;
};

/** The cluster (rest-api.md 6.15): what the configuration says of this node, and what svc-clusterd knows of all. */
export function clusterRoutes({ home, configuration, members, db }: ClusterRouteParts): OperationHandlers {
  return {
    getClusterStatus: async () => {
      const { clusterEnabled } = configuration.node();
      const states = await readDaemonStatus(home, ['svc-clusterd']);
      const runs = clusterEnabled && shownState(states.get('svc-clusterd')) === 'running';
      return dataResult({ enabled: clusterEnabled ? 'yes' : 'no', running: runs ? 'yes' : 'no' });
    },

    getClusterLocalInfo: async ({ signal }) => {
      const { node_name: node, name: cluster } = clusterSettings(configuration);
      // Who holds the lease shows as master; while nobody is known to hold it there is none.
      const type = (await members.viewIfThere(signal))?.master === node ? 'master' : 'worker';
      return listResult({ items: [{ node, cluster, type }], total: 1, messages: LOCAL_MESSAGES });
    },

    getClusterLocalConfig: ({ permitted: { secrets } }) => {
      const { nodes, hidden, haproxy_helper, key, nats: _nats, ...rest } = clusterSettings(configuration);
      const item = {
        ...rest,
        key: secrets ? key : MASK,
        nodes: nodes.node,
        hidden: hidden ? 'yes' : 'no',
        ...(haproxy_helper === undefined ? {} : { haproxy_helper: withoutPasswords(haproxy_helper, secrets) }),
      };
      return listResult({ items: [item], total: 1, messages: LOCAL_MESSAGES });
    },

    getClusterNodes: async (request) => {
      clusterSettings(configuration);
      const { there, failed } = await chosenMembers(members, request);
      const { type, ...parameters } = request.parameters;
      const items = there.map(shownNode);
      const wanted = type === undefined ? items : items.filter((item) => item.type === type);
      const page = pageOf(wanted, parameters, { sortFields: NODE_FIELDS, selectFields: NODE_FIELDS });
      // Of all nodes those that are connected are meant.
      const named = request.permitted.nodes.isAll ? [] : failed;
      return listResult({ ...page, failed: named, messages: NODES_MESSAGES });
    },

    getClusterHealthcheck: async (request) => {
      clusterSettings(configuration);
      const { there, failed } = await chosenMembers(members, request);
      const counts = await activeAgents(db, request);
      const items = there.map((node) => nodeHealth(node, counts.get(node.name) ?? 0));
      return listResult({ items, total: items.length, failed, messages: HEALTH_MESSAGES });
    },

    getClusterRulesetSynchronization: async (request) => {
      clusterSettings(configuration);
      const { there, failed, all } = await chosenMembers(members, request);
      const synced = nodesInSync(all);
      const items = there.map(({ name }) => ({ name, synced: synced.get(name) === true }));
      return listResult({ items, total: items.length, failed, messages: SYNC_MESSAGES });
    },
  };
}

type NodesRequest = ApiRequest<'getClusterNodes' | 'getClusterHealthcheck' | 'getClusterRulesetSynchronization'>;
type ClusterSettings = NonNullable<ReturnType<ManagerConfiguration['cluster']>>;

/** The version is the one that clients compare, as everywhere in the API; nodes of several releases of ours are of one. */
function shownNode({ name, type, ip }: ClusterNode): Readonly<Record<string, unknown>> & { readonly type: string } {
  return { name, type, version: COMPATIBILITY_VERSION, ip };
}

/** @throws ApiError 3013 */
function clusterSettings(configuration: ManagerConfiguration): ClusterSettings {
  const cluster = configuration.cluster();
  if (cluster === undefined || !configuration.node().clusterEnabled) throw new ApiError(3013);
  return cluster;
}

/** Nodes of a request that are heard, and why there is nothing to be said of the others. @throws ApiError 3012 */
async function chosenMembers(
  members: ClusterMembers,
  { permitted, signal }: NodesRequest,
): Promise<{
  readonly there: readonly ClusterNode[];
  readonly failed: readonly FailedItem[];
  readonly all: readonly ClusterNode[];
}> {
  const { nodes: all } = await members.view(signal);
  const known = new Map(all.map((node) => [node.name, node]));
  const there: ClusterNode[] = [];
  const failed = [...permitted.nodes.failed];
  for (const id of permitted.nodes.chosen(known.keys())) {
    const node = known.get(id);
    if (node === undefined) failed.push({ id, error: new ApiError(1730) });
    else if (node.present) there.push(node);
    else failed.push({ id, error: new NodeFailure(3022, id, 'it is not heard') });
  }
  return { there, failed, all };
}

/** Agents that are connected, by node: svc-db of each node has all agents. */
async function activeAgents(db: DbClient, request: ApiRequest): Promise<ReadonlyMap<string, number>> {
  const { nodes } = await db.call(request, 'agents.by_node', { status: 'active', q: 'id!=000' });
  return new Map(nodes.map(({ node, ids }) => [node, ids.length]));
}

function withoutPasswords(
  helper: NonNullable<ClusterSettings['haproxy_helper']>,
  secrets: boolean,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(helper).map(([name, value]) => [
      name,
      !secrets && name.endsWith('password') && value !== undefined ? MASK : value,
    ]),
  );
}
