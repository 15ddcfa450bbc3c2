import { ApiError } from '../http/api-error.js';
import type { FailedItem, ListMessages } from '../http/envelope.js';
import type { PermittedIds } from '../rbac/permitted-ids.js';
import type { ManagerConfiguration } from './manager-configuration.js';

/**
 * That a request about one node of the cluster can be answered here: this node is the only one that is known.
 * @throws ApiError 3013 without a cluster, 1730 for other nodes
 */
export function requireNode(configuration: ManagerConfiguration, node: string): void {
  const { name, clusterEnabled } = configuration.node();
  if (!clusterEnabled) throw new ApiError(3013);
  if (node !== name) throw new ApiError(1730);
}

/** Nodes that a request names: whether this one is among them, and why there is nothing to be had of the others. */
export type ChosenNodes = { readonly here: boolean; readonly failed: readonly FailedItem[] };

/** What requests about the manager are about. */
export const THIS_NODE: ChosenNodes = { here: true, failed: [] };

/** The nodes of a `nodes_list`, those that are denied among the failed. @throws ApiError 3013 without a cluster */
export function chosenNodes(configuration: ManagerConfiguration, nodes: PermittedIds): ChosenNodes {
  const { name, clusterEnabled } = configuration.node();
  if (!clusterEnabled) throw new ApiError(3013);
  const chosen = nodes.chosen([name]);
  const unknown = chosen.filter((node) => node !== name);
  return {
    here: chosen.includes(name),
    failed: [...nodes.failed, ...unknown.map((id) => ({ id, error: new ApiError(1730) }))],
  };
}

/** What results call this node: its name in a cluster, else `manager` (rest-api.md 6.4). */
export function nodeId(configuration: ManagerConfiguration): string {
  const { name, clusterEnabled } = configuration.node();
  return clusterEnabled ? name : 'manager';
}

/** Messages that end in ` in specified node` with a cluster. */
export function nodeMessages(
  configuration: ManagerConfiguration,
  all: string,
  some: string,
  none: string,
): ListMessages {
  const suffix = configuration.node().clusterEnabled ? ' in specified node' : '';
  return { all: all + suffix, some, none: none + suffix };
}
