import { RESTART_TEXT_ORDER, restartOrder, takesTextOrders } from '../../lib/agentlink/restart-order.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { MAX_AGENTS_PER_SEND, type remotedContract } from '../../lib/bus/contracts/remoted.js';
import type { Home } from '../../lib/daemon/home.js';
import type { AgentDirectory } from '../agents/agent-directory.js';
import { AgentView, type AgentItem, type ChosenAgents } from '../agents/agent-view.js';
import type { GroupDirectory } from '../groups/group-directory.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, Handlers } from '../http/api-request.js';
import { listResult, type ApiResult, type FailedItem, type ListMessages } from '../http/envelope.js';
import type { ManagerConfiguration } from '../manager-configuration.js';
import { daemonFailure } from './daemon-call.js';
import { requireManager } from './node-scope.js';

/** Longest wait for svc-remoted when the client lifted the request time limit, milliseconds. */
const MAX_DEADLINE_MS = 600_000;

const RECONNECT_TEXT = 'force_reconnect';

const RESTART_MESSAGES: ListMessages = {
  all: 'Restart command was sent to all agents',
  some: 'Restart command was not sent to some agents',
  none: 'Restart command was not sent to any agent',
};
const RECONNECT_MESSAGES: ListMessages = {
  all: 'Force reconnect command was sent to all agents',
  some: 'Force reconnect command was not sent to some agents',
  none: 'Force reconnect command was not sent to any agent',
};

export type AgentsCommandParts = {
  readonly home: Home;
  readonly node: () => string;
  readonly configuration: ManagerConfiguration;
  readonly directory: AgentDirectory;
  readonly groups: GroupDirectory;
  readonly remoted: RequestClient<typeof remotedContract>;
};

/** Restart and reconnection of agents (rest-api.md 6.2); svc-remoted sends the commands. */
export function agentsCommandRoutes(parts: AgentsCommandParts): Handlers {
  const { directory } = parts;
  const viewOf = (request: ApiRequest, action: string) => new AgentView(directory, request, action);
  /** @param ids undefined means all agents: those that cannot be reached are left out silently then */
  const choose = async (view: AgentView, ids: readonly string[] | undefined): Promise<ChosenAgents> =>
    ids === undefined
      ? { agents: await view.all({ status: 'active' }, FIELDS), failed: [] }
      : view.chooseAgents(ids, FIELDS);

  const restart = async (request: ApiRequest, chosen: ChosenAgents, all: boolean): Promise<ApiResult> => {
    const { ready, failed } = activeOnes(chosen);
    const [legacy, current] = [
      ready.filter(({ version }) => takesTextOrders(version)),
      ready.filter(({ version }) => !takesTextOrders(version)),
    ];
    const sent = [
      await send(parts, request, legacy, RESTART_TEXT_ORDER),
      await send(parts, request, current, restartOrder({ name: parts.node(), module: 'api' })),
    ].flat();
    return commandResult(ready, [...failed, ...sent], all, RESTART_MESSAGES);
  };

  return {
    putAgentsRestart: async (request) => {
      const ids = request.parameters.texts('agents_list');
      const chosen = await choose(viewOf(request, 'agent:restart'), ids);
      return restart(request, chosen, ids === undefined);
    },
    putAgentsAgentIdRestart: async (request) => {
      const ids = [request.parameters.requiredText('agent_id')];
      return restart(request, await choose(viewOf(request, 'agent:restart'), ids), false);
    },
    putAgentsGroupGroupIdRestart: async (request) => {
      const name = request.parameters.requiredText('group_id');
      await parts.groups.require(request, name);
      const { ids } = await directory.call(request, 'groups.agents', { name });
      const agents = ids.length === 0 ? [] : await viewOf(request, 'agent:restart').all({ ids }, FIELDS);
      return restart(request, { agents, failed: [] }, false);
    },
    putAgentsNodeNodeIdRestart: async (request) => {
      if (!parts.configuration.node().clusterEnabled) throw new ApiError(3013);
      requireManager(request.caller, parts.configuration, 'read');
      // Other nodes are not known here.
      const name = request.parameters.requiredText('node_id');
      if (name !== parts.node()) throw new ApiError(1730);
      const reporting = { status: 'active', node_name: name };
      const agents = await viewOf(request, 'agent:restart').all(reporting, FIELDS);
      return restart(request, { agents, failed: [] }, true);
    },
    putAgentsReconnect: async (request) => {
      const ids = request.parameters.texts('agents_list');
      const { ready, failed } = activeOnes(await choose(viewOf(request, 'agent:reconnect'), ids));
      failed.push(...(await send(parts, request, ready, RECONNECT_TEXT)));
      return commandResult(ready, failed, ids === undefined, RECONNECT_MESSAGES);
    },
  };
}

/** What must be known of an agent to send it something. */
const FIELDS = ['status', 'version'];

function activeOnes({ agents, failed }: ChosenAgents): { ready: readonly AgentItem[]; failed: FailedItem[] } {
  const ready = agents.filter(({ status }) => status === 'active');
  const others = agents.filter(({ status }) => status !== 'active');
  return { ready, failed: [...failed, ...others.map(({ id }) => ({ id, error: new ApiError(1707) }))] };
}

/** @returns the agents it did not go to @throws ApiError 1017 when svc-remoted does not run */
async function send(
  { home, node, remoted }: AgentsCommandParts,
  request: ApiRequest,
  agents: readonly AgentItem[],
  message: string,
): Promise<FailedItem[]> {
  const failed: FailedItem[] = [];
  for (let at = 0; at < agents.length; at += MAX_AGENTS_PER_SEND) {
    const ids = agents.slice(at, at + MAX_AGENTS_PER_SEND).map(({ id }) => id);
    try {
      const options = { deadlineMs: MAX_DEADLINE_MS, signal: request.signal };
      const answer = await remoted.call('agents.send', { ids, message }, options);
      for (const { id, code } of answer.failed) {
        failed.push({ id, error: new ApiError(code === 'unknown_agent' ? 1701 : 1707) });
      }
    } catch (error) {
      throw await daemonFailure(error, home, request.nodeName(node()), 'svc-remoted');
    }
  }
  return failed;
}

function commandResult(
  ready: readonly AgentItem[],
  failed: readonly FailedItem[],
  all: boolean,
  messages: ListMessages,
): ApiResult {
  const without = new Set(failed.map(({ id }) => id));
  const items = ready.map(({ id }) => id).filter((id) => !without.has(id));
  items.sort((a, b) => Number(a) - Number(b));
  return listResult({ items, total: items.length, failed: all ? [] : failed, messages });
}
