/**
 * Which nodes of a cluster answer an operation (daemons-and-config.md 10.5), `x-cluster` of the contract:
 * - `here`: the node that is asked;
 * - `agent`: the node where the agent of the path is;
 * - `agents`: each node for the agents that are there, what they did put together;
 * - `agent-rows`: the same for lists of rows of many agents, which are sorted and cut into pages over all nodes;
 * - `node`: the node of the path;
 * - `nodes`: each node that is named, or all of them; `nodes-master-last`: the same, the master behind the others;
 * - `everywhere`: all nodes that are heard; the one that is asked makes one list of what they have;
 * - `alerts`: all nodes, each for its own alerts, what they have put together by time; `alert`: the node that the id of the path names;
 * - `alert-stream`: the same alerts as they come, this node's and what the others are asked for.
 */
const SPREADS = [
  ...(['here', 'agent', 'agents', 'agent-rows', 'node', 'nodes', 'nodes-master-last', 'everywhere'] as const),
  ...(['alerts', 'alert', 'alert-stream'] as const),
] as const;
export type Spread = (typeof SPREADS)[number];

/** Parameters without which nobody could say where an operation goes: one of them is needed. */
const NEEDED: Readonly<Record<Spread, readonly string[]>> = {
  here: [],
  agent: ['agent_id'],
  agents: ['agents_list', 'group_id'],
  'agent-rows': ['agents_list'],
  node: ['node_id'],
  nodes: ['nodes_list'],
  'nodes-master-last': ['nodes_list'],
  everywhere: [],
  alerts: [],
  alert: ['alert_id'],
  'alert-stream': [],
};

/**
 * Reads `x-cluster` of an operation.
 * @param where names the operation
 * @throws Error where it is absent, or the operation lacks the parameter that it goes by: a broken contract
 */
export function readSpread(value: unknown, parameters: readonly { readonly name: string }[], where: string): Spread {
  const spread = SPREADS.find((known) => known === value);
  if (spread === undefined) throw new Error(`contract: ${where} does not say which nodes answer it (x-cluster)`);
  const needed = NEEDED[spread];
  if (needed.length > 0 && !parameters.some(({ name }) => needed.includes(name))) {
    throw new Error(`contract: ${where} is '${spread}' in x-cluster and has no ${needed.join(' or ')}`);
  }
  return spread;
}
