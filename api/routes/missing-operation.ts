import { type AgentsRequest, AgentView } from '../agents/agent-view.js';
import type { DbClient } from '../daemons/db-client.js';
import type { ApiRequest } from '../http/api-request.js';
import { ProblemError } from '../http/problem-error.js';

/**
 * Refuses an operation that this version does not have with 501, which names what of the product is not built, where the contract says it.
 * Who may not use it is told that, as of an operation that is there: whether agents of some groups are allowed is asked of svc-db.
 */
export function missingOperation(db: DbClient): (request: ApiRequest) => Promise<never> {
  return async (request) => {
    if (namesAgentsOfGroups(request)) await new AgentView(db, request).choose();
    const { method, path, missing } = request.operation;
    const reason = missing === undefined ? '' : `: ${missing}`;
    const detail = `${method} ${path} is not available in this version${reason}.`;
    throw new ProblemError(501, { title: 'Not Implemented', detail });
  };
}

function namesAgentsOfGroups(request: ApiRequest): request is AgentsRequest {
  return 'agents' in request.permitted && request.permitted.agents.dependsOnGroups;
}
