import type { AgentFilter } from '../../lib/bus/contracts/db-agents.js';
import { pickGiven } from '../contract/pick-given.js';
import { type AgentFilterParameters, agentFilters } from './agent-parameters.js';
import type { AgentItem, AgentView, ChosenAgents } from './agent-view.js';
import { unmetRequirements } from './unmet-requirements.js';

/** Filters beside a list of agents (rest-api.md 6.2). */
export type FilteredAgentsParameters = AgentFilterParameters & { readonly q?: string };

/**
 * Agents of a request that hold its filters; never 000. Of those that were named the others fail with 1701, 1703 or 1731; when all agents
 * were meant they are left out silently.
 * @param select fields that items have besides id and groups
 * @param alone filters of all agents that are not named
 */
export async function filteredAgents(
  view: AgentView,
  parameters: FilteredAgentsParameters,
  select: readonly string[] = [],
  alone: AgentFilter = {},
): Promise<ChosenAgents> {
  const filter = { ...agentFilters(parameters), ...pickGiven(parameters, ['q']) };
  const { agents, failed } = await view.chooseAgents(select, { ...filter, ...alone });
  if (view.isAll || Object.keys(filter).length === 0) return { agents, failed };
  const holding = new Set(await view.ids({ ...filter, ids: agents.map(({ id }) => id) }));
  const holds = ({ id }: AgentItem): boolean => holding.has(id);
  const error = unmetRequirements(parameters);
  for (const agent of agents) if (!holds(agent)) failed.push({ id: agent.id, error });
  return { agents: agents.filter(holds), failed };
}
