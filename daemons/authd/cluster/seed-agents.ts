import type { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { AGENT_COUNTER_KEY, type AgentCounterRecord } from '../../../lib/cluster/record-kinds.js';
import type { RecordChange } from '../../../lib/cluster/shared-records.js';
import { AgentIndex } from '../agent-index.js';
import { type AgentView, isSharedId } from './agent-view.js';
import { recordOf } from './key-draft.js';

/** What a home has that joins. */
export type OwnAgents = {
  readonly agents: Iterable<AgentKey>;
  /** The largest id that it has ever given. */
  readonly highestId: number;
  /** When the agent was added, seconds since 1970. */
  readonly dateAdd: (id: string) => number;
  /** Groups that the agent asked for, where svc-db has not heard of it yet. */
  readonly groups: (id: string) => readonly string[] | undefined;
};

export type Seed = {
  readonly changes: readonly RecordChange[];
  /** Agents whose id, name or address is that of another one in the cluster. */
  readonly leftOut: readonly AgentKey[];
};

/**
 * What a home brings into the cluster that it joins: all agents that stand in nobody's way. Those that are there with the
 * same key, as in homes that were one cluster before, are the same agents (agents-and-groups.md 2.8).
 * @param node the name of this node
 */
export function seedAgents(own: OwnAgents, view: AgentView, node: string): Seed {
  const brought = new AgentIndex([]);
  const changes: RecordChange[] = [];
  const leftOut: AgentKey[] = [];
  if (own.highestId > view.removedUpTo) {
    // Which of the ids up to here were given is known to this home alone.
    const value: AgentCounterRecord = { highestId: own.highestId };
    changes.push({ kind: 'agent', key: AGENT_COUNTER_KEY, value });
  }
  for (const agent of own.agents) {
    const { id, name, ip } = agent;
    const known = view.byId(id);
    if (known?.equals(agent) === true) continue;
    const isTaken = [view, brought].some(
      (there) => there.byName(name) !== undefined || there.byAddress(ip) !== undefined,
    );
    if (known !== undefined || isTaken || !isSharedId(id)) {
      leftOut.push(agent);
      continue;
    }
    brought.add(agent);
    const groups = own.groups(id);
    if (groups !== undefined) changes.push({ kind: 'member', key: id, value: { groups: [...groups] } });
    changes.push({ kind: 'agent', key: id, value: recordOf({ agent, dateAdd: own.dateAdd(id), groups }, node) });
  }
  return { changes, leftOut };
}
