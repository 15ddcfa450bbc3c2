import { hostname } from 'node:os';
import type { ManagerConfig } from '../../../../lib/config/manager-config.js';
import type { IndexerSection } from '../indexer/indexer-connection.js';
import type { StateOrigin } from './state-document.js';

/** What states are sent with. */
export type StatesSettings = {
  readonly indexer: IndexerSection;
  readonly origin: StateOrigin;
};

/** What `<indexer>` asks for; undefined when no states are to be sent (indexer.md 1.2, 4.1). */
export function statesSettings({ indexer, cluster }: ManagerConfig<'indexer' | 'cluster'>): StatesSettings | undefined {
  if (indexer?.enabled !== true || !indexer.options.states) return undefined;
  const isClustered = cluster !== undefined && !cluster.disabled;
  const origin = isClustered
    ? { cluster: cluster.name, node: cluster.node_name }
    : { cluster: hostname() || 'undefined', node: undefined };
  return { indexer, origin };
}

/** `<c>` of the names of indices: lower-case as ASCII has it. */
export function indexSuffix({ cluster }: StateOrigin): string {
  return cluster.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
