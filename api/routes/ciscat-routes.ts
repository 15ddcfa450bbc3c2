import { AgentView, type ChosenAgents } from '../agents/agent-view.js';
import type { DbClient } from '../daemons/db-client.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, listResult } from '../http/envelope.js';

/**
 * CIS-CAT results of agents (rest-api.md 6.18). The module behind them does not exist any more in current agents, and nothing of it is kept:
 * every agent that there is has an empty list.
 */
export function ciscatRoutes(db: DbClient): OperationHandlers {
  const view = (request: ApiRequest) => new AgentView(db, request, 'ciscat:read');
  return {
    getCiscatAgentIdResults: async (request) => noResults(await view(request).choose([request.parameters.agent_id])),
    getExperimentalCiscatResults: async (request) => {
      const ids = request.parameters.agents_list;
      return noResults(ids === undefined ? { agents: [], failed: [] } : await view(request).choose(ids));
    },
  };
}

function noResults({ failed }: ChosenAgents): ApiResult {
  const messages = {
    all: 'All CISCAT results were returned',
    some: 'Some CISCAT results were not returned',
    none: 'No CISCAT results were returned',
  };
  return listResult({ items: [], total: 0, failed, messages });
}
