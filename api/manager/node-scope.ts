import type { Caller } from '../auth/authenticator.js';
import { ApiError } from '../http/api-error.js';
import type { FailedItem, ListMessages } from '../http/envelope.js';
import type { ManagerConfiguration } from './manager-configuration.js';

/** With a cluster the `cluster` twin of the action on this node counts (rest-api.md 5.4). */
export function allowsManager(caller: Caller, configuration: ManagerConfiguration, action: string): boolean {
  const { name, clusterEnabled } = configuration.node();
  if (!clusterEnabled) return caller.permissions.allows(`manager:${action}`);
  return caller.permissions.allowed(`cluster:${action}`, 'node:id', [name]).has(name);
}

/** @throws ApiError 4000 when one of the actions on the manager is not allowed */
export function requireManager(
  caller: Caller,
  configuration: ManagerConfiguration,
  ...actions: readonly string[]
): void {
  if (actions.every((action) => allowsManager(caller, configuration, action))) return;
  throw new ApiError(4000, { extra: `Resource type: ${configuration.node().clusterEnabled ? 'node:id' : '*:*'}` });
}

/**
 * That a request about one node of the cluster can be answered here: this node is the only one that is known.
 * @throws ApiError 4000 when one of the actions on it is not allowed, 3013 without a cluster, 1730 for other nodes
 */
export function requireNode(
  caller: Caller,
  configuration: ManagerConfiguration,
  node: string,
  ...actions: readonly string[]
): void {
  if (!allowsNode(caller, node, actions)) throw deniedNode();
  const { name, clusterEnabled } = configuration.node();
  if (!clusterEnabled) throw new ApiError(3013);
  if (node !== name) throw new ApiError(1730);
}

/** Nodes that a request names: whether this one is among them, and why there is nothing to be had of the others. */
export type ChosenNodes = { readonly here: boolean; readonly failed: readonly FailedItem[] };

/** What requests about the manager are about. */
export const THIS_NODE: ChosenNodes = { here: true, failed: [] };

/**
 * The nodes of a `nodes_list`, in the forms of denial of rest-api.md 5.2.
 * @param names undefined means all nodes
 * @throws ApiError 4000 when none of those named is allowed, 3013 without a cluster
 */
export function chooseNodes(
  caller: Caller,
  configuration: ManagerConfiguration,
  names: readonly string[] | undefined,
  ...actions: readonly string[]
): ChosenNodes {
  const { name, clusterEnabled } = configuration.node();
  const wanted = [...new Set(names ?? [name])];
  const denied = wanted.filter((node) => !allowsNode(caller, node, actions));
  if (names !== undefined && denied.length === wanted.length) throw deniedNode();
  if (!clusterEnabled) throw new ApiError(3013);
  if (names === undefined) return { here: denied.length === 0, failed: [] };
  const unknown = wanted.filter((node) => node !== name && !denied.includes(node));
  return {
    here: wanted.includes(name) && !denied.includes(name),
    failed: [
      ...denied.map((id) => ({ id, error: deniedNode() })),
      ...unknown.map((id) => ({ id, error: new ApiError(1730) })),
    ],
  };
}

function allowsNode({ permissions }: Caller, node: string, actions: readonly string[]): boolean {
  return actions.every((action) => permissions.allowed(`cluster:${action}`, 'node:id', [node]).has(node));
}

function deniedNode(): ApiError {
  return new ApiError(4000, { extra: 'Resource type: node:id' });
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
