import { type AgentsRequest, AgentView } from '../agents/agent-view.js';
import type { DbClient } from '../daemons/db-client.js';
import type { OperationHandlers } from '../http/api-request.js';
import { type ApiResult, type FailedItem, listResult } from '../http/envelope.js';

/**
 * CIS-CAT results of agents (rest-api.md 6.18). The module behind them does not exist any more in current agents, and nothing of it is kept:
 * every agent that there is has an empty list.
 */
export function ciscatRoutes(db: DbClient): OperationHandlers {
  const answer = async (request: AgentsRequest) => {
    const view = new AgentView(db, request);
    return noResults(view.isAll ? [] : (await view.choose()).failed);
  };
  return {
    getCiscatAgentIdResults: answer,
    getExperimentalCiscatResults: answer,
  };
}

function noResults(failed: readonly FailedItem[]): ApiResult {
  const messages = {
    all: 'All CISCAT results were returned',
    some: 'Some CISCAT results were not returned',
    none: 'No CISCAT results were returned',
  };
  return listResult({ items: [], total: 0, failed, messages });
}
