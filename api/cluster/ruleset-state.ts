import * as z from 'zod';
import type { ClusterNode } from '../../lib/bus/contracts/clusterd.js';

/** What of a node's facts says which rules, decoders and lists it works by. */
const rulesetFacts = z.object({
  files: z.object({ ruleset: z.object({ revision: z.number(), synced: z.boolean() }) }),
});

/**
 * By node whether it works by the ruleset of the cluster: the newest that a node has in force, loaded. A node that has said nothing of
 * it, or that is not heard, does not.
 */
export function nodesInSync(nodes: readonly ClusterNode[]): ReadonlyMap<string, boolean> {
  const states = nodes.map(({ name, present, facts }) => {
    const told = rulesetFacts.safeParse(facts['svc-clusterd']);
    return { name, ruleset: present && told.success ? told.data.files.ruleset : undefined };
  });
  const newest = Math.max(0, ...states.map(({ ruleset }) => ruleset?.revision ?? 0));
  return new Map(states.map(({ name, ruleset }) => [name, ruleset?.synced === true && ruleset.revision === newest]));
}
