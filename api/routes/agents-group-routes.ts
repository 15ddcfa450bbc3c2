import { type AgentItem, AgentView } from '../agents/agent-view.js';
import { changeMembership } from '../agents/change-membership.js';
import type { DbClient } from '../daemons/db-client.js';
import type { GroupDirectory } from '../groups/group-directory.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, type FailedItem, listResult } from '../http/envelope.js';
import type { ErrorCode } from '../http/error-code.js';

/** Refusals that nobody wants to hear of who asked for all agents (rest-api.md 5.2). */
const HIDDEN_ON_ALL = new Set<ErrorCode>([1701, 1703, 1734, 1751, 1752]);

type AssignmentRequest = ApiRequest<'putAgentsGroup' | 'putAgentsAgentIdGroupGroupId'>;

/** Agents into a group and out of it (rest-api.md 6.2, agents-and-groups.md 10.3). */
export function agentsGroupRoutes(db: DbClient, groups: GroupDirectory): OperationHandlers {
  const assign = async (request: AssignmentRequest): Promise<ApiResult> => {
    const group = request.parameters.group_id;
    const single = request.parameters.force_single_group === true;
    const view = new AgentView(db, request);
    const chosen = await view.chooseAgents();
    await groups.require(request, group);
    const agents = single ? chosen.agents.filter((agent) => mayLeaveAll(request, agent)) : chosen.agents;
    const kept = chosen.agents.filter((agent) => !agents.includes(agent));
    const changed = await changeMembership(db, request, single ? 'override' : 'append', agents, group);
    const refused = kept.map(({ id }) => ({ id, error: new ApiError(1752) }));
    const suffix = single ? ' and removed from the other groups' : '';
    const messages = {
      all: `All selected agents were assigned to ${group}${suffix}`,
      some: `Some agents were not assigned to ${group}${suffix}`,
      none: `No agents were assigned to ${group}${suffix}`,
    };
    const failed = shownFailures([...chosen.failed, ...refused, ...changed.failed], view.isAll);
    return listResult({ items: changed.ids, total: changed.ids.length, failed, messages });
  };

  return {
    putAgentsAgentIdGroupGroupId: assign,
    putAgentsGroup: assign,

    deleteAgentsGroup: async (request) => {
      const group = request.parameters.group_id;
      const view = new AgentView(db, request);
      const chosen = await view.chooseAgents([], { group });
      await groups.require(request, group);
      const changed = await changeMembership(db, request, 'remove', chosen.agents, group);
      const messages = {
        all: `All selected agents were removed from group ${group}`,
        some: `Some agents were not removed from group ${group}`,
        none: `No agent was removed from group ${group}`,
      };
      const failed = shownFailures([...chosen.failed, ...changed.failed], view.isAll);
      return listResult({ items: changed.ids, total: changed.ids.length, failed, messages });
    },
  };
}

function shownFailures(failed: readonly FailedItem[], all: boolean): readonly FailedItem[] {
  return all ? failed.filter(({ error }) => !HIDDEN_ON_ALL.has(error.code)) : failed;
}

/** All other groups are left: the caller must be allowed to change each of them. */
function mayLeaveAll({ permitted }: AssignmentRequest, { groups }: AgentItem): boolean {
  return permitted.groups.of(groups).size === groups.length;
}
