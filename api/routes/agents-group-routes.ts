import { MAX_AGENTS_PER_CALL } from '../../lib/bus/contracts/db-agents.js';
import { type AgentItem, AgentView } from '../agents/agent-view.js';
import type { DbClient } from '../daemons/db-client.js';
import type { GroupDirectory } from '../groups/group-directory.js';
import { deniedGroup } from '../groups/group-failure.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, Handlers } from '../http/api-request.js';
import { type ApiResult, type FailedItem, listResult, messageResult } from '../http/envelope.js';
import type { ErrorCode } from '../http/error-code.js';
import { requireGroup } from './groups-routes.js';

const AGENT_ACTION = 'agent:modify_group';
const GROUP_ACTION = 'group:modify_assignments';
const DEFAULT_GROUP = 'default';

/** Codes of svc-db for a change of membership that was not made. */
const MEMBERSHIP_CODES: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['unknown_agent', 1701],
  ['manager', 1703],
  ['too_many_groups', 1737],
  ['already_member', 1751],
  ['not_member', 1734],
  ['only_default', 1745],
]);

/** Refusals that nobody wants to hear of who asked for all agents (rest-api.md 5.2). */
const HIDDEN_ON_ALL = new Set<ErrorCode>([1701, 1703, 1734, 1751, 1752]);

type Assignment = 'putAgentsGroup' | 'putAgentsAgentIdGroupGroupId';

/** Groups that an agent is to leave, and whether the client named them. */
type Wanted = { readonly groups: readonly string[]; readonly named: boolean };

type Changed = { readonly ids: readonly string[]; readonly failed: readonly FailedItem[] };

/** Agents into groups and out of them (rest-api.md 6.2, agents-and-groups.md 10.3). */
export function agentsGroupRoutes(directory: DbClient, known: GroupDirectory): Handlers {
  const viewOf = (request: ApiRequest) => new AgentView(directory, request, AGENT_ACTION);

  const change = async (
    request: ApiRequest,
    mode: 'append' | 'override' | 'remove',
    agents: readonly AgentItem[],
    group: string,
  ): Promise<Changed> => {
    const ids: string[] = [];
    const failed: FailedItem[] = [];
    for (let at = 0; at < agents.length; at += MAX_AGENTS_PER_CALL) {
      const wanted = agents.slice(at, at + MAX_AGENTS_PER_CALL).map(({ id }) => ({ id, groups: [group] }));
      const answer = await directory.call(request, 'agents.membership', { mode, agents: wanted });
      for (const { id } of answer.changed) ids.push(id);
      for (const { id, code } of answer.failed) failed.push({ id, error: membershipError(code) });
    }
    return { ids: ids.sort((a, b) => Number(a) - Number(b)), failed };
  };

  /** @param ids undefined means all agents */
  const assign = async (request: ApiRequest<Assignment>, ids: readonly string[] | undefined): Promise<ApiResult> => {
    const group = request.parameters.group_id;
    const single = request.parameters.force_single_group === true;
    const view = viewOf(request);
    const chosen = ids === undefined ? { agents: await view.all({}), failed: [] } : await view.chooseAgents(ids);
    requireGroup(request, GROUP_ACTION, group);
    await known.require(request, group);
    const failed = [...chosen.failed];
    const agents = chosen.agents.filter((agent) => {
      // All others are left: the caller must be allowed to change each of them.
      if (!single || mayChange(request, agent.groups)) return true;
      failed.push({ id: agent.id, error: new ApiError(1752) });
      return false;
    });
    const changed = await change(request, single ? 'override' : 'append', agents, group);
    failed.push(...changed.failed);
    const suffix = single ? ' and removed from the other groups' : '';
    const messages = {
      all: `All selected agents were assigned to ${group}${suffix}`,
      some: `Some agents were not assigned to ${group}${suffix}`,
      none: `No agents were assigned to ${group}${suffix}`,
    };
    const shown = ids === undefined ? failed.filter(({ error }) => !HIDDEN_ON_ALL.has(error.code)) : failed;
    return listResult({ items: changed.ids, total: changed.ids.length, failed: shown, messages });
  };

  /** The agent of a path; whatever is wrong with it ends the request. */
  const oneAgent = async (
    request: ApiRequest<'deleteAgentsAgentIdGroup' | 'deleteAgentsAgentIdGroupGroupId'>,
  ): Promise<AgentItem> => {
    const { agents, failed } = await viewOf(request).chooseAgents([request.parameters.agent_id]);
    const [agent] = agents;
    if (agent === undefined) throw failed[0]?.error ?? new ApiError(1701);
    return agent;
  };

  /** Those of the groups that exist and may be changed, `default` last: leaving it is refused while it is the only one. */
  const groupsToLeave = async (request: ApiRequest, wanted: Wanted, failed: FailedItem[]) => {
    const names = [...new Set(wanted.groups)];
    const allowed = request.caller.permissions.allowed(GROUP_ACTION, 'group:id', names);
    // Who names none means all that may be left.
    if (wanted.named && allowed.size === 0) throw deniedGroup();
    for (const id of names) if (!allowed.has(id)) failed.push({ id, error: deniedGroup() });
    const unknown = new Set(await known.unknown(request, [...allowed]));
    for (const id of unknown) failed.push({ id, error: new ApiError(1710) });
    const there = names.filter((name) => allowed.has(name) && !unknown.has(name));
    const last = there.includes(DEFAULT_GROUP) ? [DEFAULT_GROUP] : [];
    return [...there.filter((name) => name !== DEFAULT_GROUP), ...last];
  };

  return {
    putAgentsAgentIdGroupGroupId: (request) => assign(request, [request.parameters.agent_id]),
    putAgentsGroup: (request) => assign(request, request.parameters.agents_list),

    deleteAgentsGroup: async (request) => {
      const group = request.parameters.group_id;
      const wanted = request.parameters.agents_list;
      const all = wanted.includes('all');
      const view = viewOf(request);
      const chosen = all ? { agents: await view.all({ group }), failed: [] } : await view.chooseAgents(wanted);
      requireGroup(request, GROUP_ACTION, group);
      await known.require(request, group);
      const changed = await change(request, 'remove', chosen.agents, group);
      const failed = [...chosen.failed, ...changed.failed];
      const messages = {
        all: `All selected agents were removed from group ${group}`,
        some: `Some agents were not removed from group ${group}`,
        none: `No agent was removed from group ${group}`,
      };
      const shown = all ? failed.filter(({ error }) => !HIDDEN_ON_ALL.has(error.code)) : failed;
      return listResult({ items: changed.ids, total: changed.ids.length, failed: shown, messages });
    },

    deleteAgentsAgentIdGroupGroupId: async (request) => {
      const group = request.parameters.group_id;
      const agent = await oneAgent(request);
      requireGroup(request, GROUP_ACTION, group);
      await known.require(request, group);
      const { failed } = await change(request, 'remove', [agent], group);
      if (failed[0] !== undefined) throw failed[0].error;
      const left = agent.groups.length > 1 ? '' : ' Agent reassigned to group default.';
      return messageResult(`Agent '${agent.id}' removed from '${group}'.${left}`);
    },

    deleteAgentsAgentIdGroup: async (request) => {
      const listed = request.parameters.groups_list;
      const agent = await oneAgent(request);
      const failed: FailedItem[] = [];
      const groups = await groupsToLeave(
        request,
        { groups: listed ?? agent.groups, named: listed !== undefined },
        failed,
      );
      const removed: string[] = [];
      for (const group of groups) {
        const changed = await change(request, 'remove', [agent], group);
        const refusal = changed.failed[0];
        if (refusal === undefined) removed.push(group);
        else failed.push({ id: group, error: refusal.error });
      }
      const messages = {
        all: 'Specified agent was removed from returned groups',
        some: 'Specified agent was not removed from some groups',
        none: 'Specified agent was not removed from any group',
      };
      return listResult({
        items: removed,
        total: removed.length,
        failed: listed === undefined ? [] : failed,
        messages,
      });
    },
  };
}

function membershipError(code: string): ApiError {
  return new ApiError(MEMBERSHIP_CODES.get(code) ?? 1000);
}

function mayChange(request: ApiRequest, groups: readonly string[]): boolean {
  return request.caller.permissions.allowed(GROUP_ACTION, 'group:id', groups).size === groups.length;
}
