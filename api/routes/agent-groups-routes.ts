import { type AgentItem, AgentView } from '../agents/agent-view.js';
import { changeMembership } from '../agents/change-membership.js';
import type { DbClient } from '../daemons/db-client.js';
import type { GroupDirectory } from '../groups/group-directory.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type FailedItem, listResult, messageResult } from '../http/envelope.js';

const DEFAULT_GROUP = 'default';

type LeavingRequest = ApiRequest<'deleteAgentsAgentIdGroup' | 'deleteAgentsAgentIdGroupGroupId'>;

/** One agent out of groups (rest-api.md 6.2, agents-and-groups.md 10.3). */
export function agentGroupsRoutes(db: DbClient, known: GroupDirectory): OperationHandlers {
  /** The agent of a path; whatever is wrong with it ends the request. */
  const agentOf = async (request: LeavingRequest): Promise<AgentItem> => {
    const { agents, failed } = await new AgentView(db, request).chooseAgents();
    const [agent] = agents;
    if (agent === undefined) throw failed[0]?.error ?? new ApiError(1701);
    return agent;
  };

  /** Why the agent is not out of the group now; undefined when it is. */
  const leave = async (request: LeavingRequest, agent: AgentItem, group: string): Promise<ApiError | undefined> => {
    const { failed } = await changeMembership(db, request, 'remove', [agent], group);
    return failed[0]?.error;
  };

  return {
    deleteAgentsAgentIdGroupGroupId: async (request) => {
      const group = request.parameters.group_id;
      const agent = await agentOf(request);
      await known.require(request, group);
      const refusal = await leave(request, agent, group);
      if (refusal !== undefined) throw refusal;
      const left = agent.groups.length > 1 ? '' : ' Agent reassigned to group default.';
      return messageResult(`Agent '${agent.id}' removed from '${group}'.${left}`);
    },

    deleteAgentsAgentIdGroup: async (request) => {
      const agent = await agentOf(request);
      const { groups, failed } = await groupsToLeave(known, request, agent);
      const removed: string[] = [];
      for (const group of groups) {
        const refusal = await leave(request, agent, group);
        if (refusal === undefined) removed.push(group);
        else failed.push({ id: group, error: refusal });
      }
      const messages = {
        all: 'Specified agent was removed from returned groups',
        some: 'Specified agent was not removed from some groups',
        none: 'Specified agent was not removed from any group',
      };
      // Who names no group means all that may be left.
      const shown = request.permitted.groups.isAll ? [] : failed;
      return listResult({ items: removed, total: removed.length, failed: shown, messages });
    },
  };
}

/**
 * Those of the named groups, or of the agent's, that exist and may be changed; `default` last: leaving it is refused while it
 * is the only one.
 */
async function groupsToLeave(
  known: GroupDirectory,
  request: ApiRequest<'deleteAgentsAgentIdGroup'>,
  agent: AgentItem,
): Promise<{ readonly groups: readonly string[]; readonly failed: FailedItem[] }> {
  const { groups } = request.permitted;
  const allowed = groups.chosen(agent.groups);
  const failed = [...groups.failed];
  const unknown = new Set(await known.unknown(request, allowed));
  for (const id of unknown) failed.push({ id, error: new ApiError(1710) });
  const there = allowed.filter((name) => !unknown.has(name));
  const last = there.includes(DEFAULT_GROUP) ? [DEFAULT_GROUP] : [];
  return { groups: [...there.filter((name) => name !== DEFAULT_GROUP), ...last], failed };
}
