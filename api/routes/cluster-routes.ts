import { readDaemonStatus, shownState } from '../../lib/daemon/daemon-status.js';
import type { Home } from '../../lib/home/home.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, dataResult, type ListMessages, listResult } from '../http/envelope.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import { chosenNodes } from '../manager/node-scope.js';

const LOCAL_MESSAGES: ListMessages = {
  all: 'All selected information was returned',
  some: 'No information was returned',
  none: 'No information was returned',
};
/** What stands in the place of a secret. */
const MASK = '*****';

/**
 * The cluster (rest-api.md 6.15): what the configuration says of this node. What other nodes would say needs
 * svc-clusterd, without which no cluster runs.
 */
export function clusterRoutes(home: Home, configuration: ManagerConfiguration): OperationHandlers {
  /** What only svc-clusterd knows. @throws ApiError 3013, 3012 */
  const ofRunningCluster = ({ permitted }: NodesRequest): never => {
    chosenNodes(configuration, permitted.nodes);
    throw new ApiError(3012);
  };
  return {
    getClusterStatus: async () => {
      const { clusterEnabled } = configuration.node();
      const states = await readDaemonStatus(home, ['svc-clusterd']);
      const runs = clusterEnabled && shownState(states.get('svc-clusterd')) === 'running';
      return dataResult({ enabled: clusterEnabled ? 'yes' : 'no', running: runs ? 'yes' : 'no' });
    },

    getClusterLocalInfo: () =>
      localItem(configuration, ({ node_name, name, node_type }) => ({
        node: node_name,
        cluster: name,
        type: node_type,
      })),

    getClusterLocalConfig: ({ permitted: { secrets } }) =>
      localItem(configuration, ({ nodes, hidden, haproxy_helper, key, ...rest }) => ({
        ...rest,
        key: secrets ? key : MASK,
        nodes: nodes.node,
        hidden: hidden ? 'yes' : 'no',
        ...(haproxy_helper === undefined ? {} : { haproxy_helper: withoutPasswords(haproxy_helper, secrets) }),
      })),

    getClusterNodes: ofRunningCluster,
    getClusterHealthcheck: ofRunningCluster,
    getClusterRulesetSynchronization: ofRunningCluster,
  };
}

type NodesRequest = ApiRequest<'getClusterNodes' | 'getClusterHealthcheck' | 'getClusterRulesetSynchronization'>;

type ClusterSettings = NonNullable<ReturnType<ManagerConfiguration['cluster']>>;

/** One item about this node. @throws ApiError 3013 */
function localItem(configuration: ManagerConfiguration, item: (cluster: ClusterSettings) => object): ApiResult {
  const cluster = configuration.cluster();
  if (cluster === undefined || !configuration.node().clusterEnabled) throw new ApiError(3013);
  return listResult({ items: [item(cluster)], total: 1, messages: LOCAL_MESSAGES });
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
