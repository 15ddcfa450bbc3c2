import type { Caller } from '../auth/authenticator.js';
import { ApiError } from '../http/api-error.js';
import type { ListMessages } from '../http/envelope.js';
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
