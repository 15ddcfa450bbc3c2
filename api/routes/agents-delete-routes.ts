import { MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import { agentFilters } from '../agents/agent-parameters.js';
import { AgentView } from '../agents/agent-view.js';
import { unmetRequirements } from '../agents/unmet-requirements.js';
import { pickGiven } from '../contract/pick-given.js';
import type { AuthdClient } from '../daemons/authd-client.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { type FailedItem, listResult } from '../http/envelope.js';
import { pythonText } from '../http/python-text.js';

/** Removal of agents with their keys (rest-api.md 6.2). */
export function agentsDeleteRoutes(db: DbClient, authd: AuthdClient): OperationHandlers {
  return {
    deleteAgents: async (request) => {
      const { parameters } = request;
      const view = new AgentView(db, request);
      const filter = { ...agentFilters(parameters), ...pickGiven(parameters, ['q']) };
      const failed: FailedItem[] = [];
      let eligible: readonly string[];
      if (view.isAll) {
        eligible = (await view.ids(filter)).filter((id) => id !== MANAGER_ID);
      } else {
        const chosen = await view.chooseAgents();
        failed.push(...chosen.failed);
        const ids = chosen.agents.map(({ id }) => id);
        eligible = await view.ids({ ...filter, ids });
        const holding = new Set(eligible);
        const error = unmetRequirements(parameters, `status: ${pythonText([...parameters.status])}`);
        for (const id of ids) if (!holding.has(id)) failed.push({ id, error });
      }
      const removed = eligible.length === 0 ? [] : await authd.remove(request, eligible, parameters.purge);
      if (removed.length < eligible.length && !view.isAll) {
        // Somebody else removed them meanwhile.
        const done = new Set(removed);
        for (const id of eligible) if (!done.has(id)) failed.push({ id, error: new ApiError(1701) });
      }
      const messages = {
        all: 'All selected agents were deleted',
        some: 'Some agents were not deleted',
        none: 'No agents were deleted',
      };
      const items = [...removed].sort((a, b) => Number(a) - Number(b));
      return listResult({ items, total: items.length, failed, messages });
    },
  };
}
