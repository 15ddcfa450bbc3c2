import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import { type AgentItem, type AgentsRequest, AgentView } from './agent-view.js';

/**
 * The agent of a path, whose files and findings are asked for.
 * @throws ApiError 4000 when the caller may not, 1701 when there is none
 */
export async function agentOfPath(db: DbClient, request: AgentsRequest): Promise<AgentItem> {
  const { agents, failed } = await new AgentView(db, request).choose(['status', 'version']);
  const [agent] = agents;
  if (agent === undefined) throw failed[0]?.error ?? new ApiError(1701);
  return agent;
}

/** Whether an agent has sent anything that could be stored. */
export function hasConnected({ status }: AgentItem): boolean {
  return status !== 'never_connected';
}

/** 2007: there is nothing stored of an agent that never connected, or that is not known. */
export function noDatabase(id: string): ApiError {
  return new ApiError(2007, {
    extra: `There is no database for agent ${id}. Please check if the agent has connected to the manager`,
  });
}
