import type { ApiClient } from './api-client.js';
import { useConsole } from './console-context.js';
import type { FailedItem } from './failure.js';
import { useQuery } from './use-query.js';

/** A node of a cluster of managers, as the one that is asked sees it. */
export type ClusterNode = {
  readonly name: string;
  /** The holder of the lease; while nobody is known to hold it there is none. */
  readonly isMaster: boolean;
  readonly isHeard: boolean;
};

export type Nodes = {
  /** The node that answers where none is named. */
  readonly own: string;
  /** By name; that one is among them. */
  readonly all: readonly ClusterNode[];
};

/** Milliseconds until it is asked again which nodes are heard. */
const EVERY_MS = 30_000;

/** Nodes of the cluster; undefined where there is none, while it is not known yet, and for users who may not see them. */
export function useNodes(): Nodes | undefined {
  const { session } = useConsole();
  const isAsked = session.may('cluster:status') && session.may('cluster:read');
  return useQuery(isAsked ? 'nodes' : undefined, askNodes, EVERY_MS).data;
}

type Health = { readonly info: { readonly name: string; readonly type: string } };

/** @returns undefined when the manager is alone. @throws Failure */
async function askNodes(api: ApiClient, signal: AbortSignal): Promise<Nodes | undefined> {
  const { enabled } = await api.get<{ enabled: string }>('/cluster/status', {}, signal);
  if (enabled !== 'yes') return undefined;
  const [
    {
      affected_items: [local],
    },
    { affected_items: heard, failed_items: failed },
  ] = await Promise.all([
    api.list<{ node: string }>('/cluster/local/info', {}, signal),
    api.list<Health>('/cluster/healthcheck', {}, signal),
  ]);
  return local === undefined ? undefined : nodesOf(local.node, heard, failed);
}

/**
 * @param own name of the node that answers
 * @param heard nodes that are heard
 * @param failed why of others nothing can be said
 */
export function nodesOf(own: string, heard: readonly Health[], failed: readonly FailedItem[]): Nodes {
  const away = failed.flatMap(({ id }) => id.map(String));
  const nodes: ClusterNode[] = [
    ...heard.map(({ info: { name, type } }) => ({ name, isMaster: type === 'master', isHeard: true })),
    ...away.map((name) => ({ name, isMaster: false, isHeard: false })),
  ];
  if (!nodes.some(({ name }) => name === own)) nodes.push({ name: own, isMaster: false, isHeard: true });
  return { own, all: nodes.sort((one, other) => (one.name < other.name ? -1 : 1)) };
}
