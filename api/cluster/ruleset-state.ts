import type { ClusterNode } from '../../lib/bus/contracts/clusterd.js';
import { filesFacts } from '../../lib/cluster/record-kinds.js';

/**
 * By node whether it works by the ruleset of the cluster: the newest that a node has in force, loaded. A node that has said nothing of
 * it, or that is not heard, does not.
 */
export function nodesInSync(nodes: readonly ClusterNode[]): ReadonlyMap<string, boolean> {
  const states = nodes.map(({ name, present, facts }) => {
    const told = filesFacts.safeParse(facts['svc-clusterd']?.['files']);
    return { name, ruleset: present && told.success ? told.data.ruleset : undefined };
  });
  const newest = Math.max(0, ...states.map(({ ruleset }) => ruleset?.revision ?? 0));
  return new Map(states.map(({ name, ruleset }) => [name, ruleset?.synced === true && ruleset.revision === newest]));
}
