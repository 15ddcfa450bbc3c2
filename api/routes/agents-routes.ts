import * as z from 'zod';
import { AGENT_STATUSES } from '../../lib/bus/contracts/db-agents.js';
import { isSynchronized } from '../../lib/groups/merged-file-of.js';
import { agentListParameters } from '../agents/agent-parameters.js';
import { AgentView, type ListParameters } from '../agents/agent-view.js';
import type { GroupSums } from '../agents/group-sums.js';
import type { DbClient } from '../daemons/db-client.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, type ListMessages, listResult } from '../http/envelope.js';

/** What of an agent says whether it is in step. */
const synchronizedAgent = z.object({
  groups: z.array(z.string()),
  status: z.enum(AGENT_STATUSES).optional(),
  mergedSum: z.string().optional(),
});
/** What lists of agents say. */
export const AGENT_MESSAGES: ListMessages = {
  all: 'All selected agents information was returned',
  some: 'Some agents information was not returned',
  none: 'No agent information was returned',
};

/** Lists of agents, 000 among them (rest-api.md 6.2). */
export function agentsRoutes(db: DbClient, sums: GroupSums): OperationHandlers {
  /** @param fixed conditions besides those of the request */
  const list = async (
    request: ApiRequest<'getAgents' | 'getAgentsNoGroup' | 'getAgentsOutdated'>,
    fixed: ListParameters = {},
  ): Promise<ApiResult> => {
    const view = new AgentView(db, request);
    return listResult({
      ...(await view.list({ ...agentListParameters(request.parameters), ...fixed })),
      messages: AGENT_MESSAGES,
    });
  };
  return {
    getAgents: async (request) => {
      const view = new AgentView(db, request);
      if (view.isAll) return list(request);
      const { agents, failed } = await view.choose();
      const chosen = { ...agentListParameters(request.parameters), ids: agents.map(({ id }) => id) };
      return listResult({ ...(await view.list(chosen)), failed, messages: AGENT_MESSAGES });
    },

    getAgentsNoGroup: (request) => list(request, { no_group: true }),
    getAgentsOutdated: (request) => list(request, { outdated: true }),

    getAgentsAgentIdGroupIsSync: async (request) => {
      const { agents, failed } = await new AgentView(db, request).chooseAgents(['status', 'mergedSum']);
      const items = await Promise.all(
        // What lies there now, not what was last compared (agents-and-groups.md 6.7).
        agents.map(async (agent) => ({
          id: agent.id,
          synced: await isSynchronized(synchronizedAgent.parse(agent), (groups) => sums.merged(groups)),
        })),
      );
      const messages = {
        all: 'Sync info was returned for all selected agents',
        some: 'Sync info was not returned for some selected agents',
        none: 'No sync info was returned',
      };
      return listResult({ items, total: items.length, failed, messages });
    },

    getAgentsStatsDistinct: async (request) => {
      const { select: _select, distinct: _distinct, ...parameters } = agentListParameters(request.parameters);
      const fields = request.parameters.fields;
      const page = await new AgentView(db, request).countBy({
        ...parameters,
        ...(fields === undefined ? {} : { fields: [...fields] }),
      });
      return listResult({ ...page, messages: AGENT_MESSAGES });
    },
  };
}
