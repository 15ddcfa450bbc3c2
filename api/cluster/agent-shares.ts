import type { AgentFilter } from '../../lib/bus/contracts/db-agents.js';
import type { AgentsRequest, AgentView } from '../agents/agent-view.js';
import type { FailedItem } from '../http/envelope.js';
import type { ClusterMembers } from './cluster-members.js';

/** Which node answers for which agents of a request. */
export type AgentShares = {
  /** Those of this node, those that nobody knows, and those of nodes that the cluster does not have. */
  readonly here: readonly string[];
  readonly elsewhere: ReadonlyMap<string, readonly string[]>;
  /** Named agents that the caller may not use. */
  readonly failed: readonly FailedItem[];
};

/** Of an agent that never connected. */
const NO_NODE = new Set(['unknown', '']);

/**
 * Gives each agent of a request to the node where this node's svc-db has it: to one alone, so that nothing is done or shown twice
 * while an agent moves.
 * @param filter of all agents, where not all are meant and none is named
 * @throws ApiError 4000 when the caller may use none of those that are named
 */
export async function shareAgents(
  view: AgentView,
  request: AgentsRequest,
  members: ClusterMembers,
  filter: AgentFilter = {},
): Promise<AgentShares> {
  const { nodes, failed } = view.isAll ? { nodes: await view.byNode(filter), failed: [] } : await namedByNode(view);
  const here: string[] = [];
  const elsewhere = new Map<string, readonly string[]>();
  for (const [node, ids] of nodes) {
    if (node === members.self || NO_NODE.has(node)) here.push(...ids);
    else elsewhere.set(node, ids);
  }
  // Asked only where somebody else may have to answer.
  if (elsewhere.size > 0) {
    const known = await members.viewIfThere(request.signal);
    for (const [node, ids] of elsewhere) {
      if (known === undefined || known.nodes.some(({ name }) => name === node)) continue;
      elsewhere.delete(node);
      here.push(...ids);
    }
  }
  return { here, elsewhere, failed };
}

async function namedByNode(view: AgentView) {
  const { agents, failed } = await view.choose(['node_name']);
  const nodes = new Map<string, string[]>();
  const give = (node: string, id: string): void => {
    const ids = nodes.get(node);
    if (ids === undefined) nodes.set(node, [id]);
    else ids.push(id);
  };
  for (const { id, node_name: node } of agents) give(typeof node === 'string' ? node : '', id);
  // What is wrong with an agent that there is not, this node says in the way of the operation.
  for (const { id, error } of failed) if (error.code === 1701) give('', String(id));
  return { nodes, failed: failed.filter(({ error }) => error.code !== 1701) };
}
