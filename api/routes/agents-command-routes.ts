import { isOssecVersion } from '../../lib/agentlink/agent-version.js';
import { RESTART_TEXT_ORDER, restartOrder, takesTextOrders } from '../../lib/agentlink/restart-order.js';
import { activeOnes, agentsToOrder, ORDER_FIELDS, orderResult } from '../agents/agent-orders.js';
import { AgentView, type ChosenAgents } from '../agents/agent-view.js';
import type { DbClient } from '../daemons/db-client.js';
import type { RemotedClient } from '../daemons/remoted-client.js';
import type { GroupDirectory } from '../groups/group-directory.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import type { ApiResult, ListMessages } from '../http/envelope.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import { requireNode } from '../manager/node-scope.js';

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
  readonly node: () => string;
  readonly configuration: ManagerConfiguration;
  readonly db: DbClient;
  readonly groups: GroupDirectory;
  readonly remoted: RemotedClient;
};

/** Restart and reconnection of agents (rest-api.md 6.2); svc-remoted sends the commands. */
export function agentsCommandRoutes(parts: AgentsCommandParts): OperationHandlers {
  const { db, remoted } = parts;
  const restart = async (request: ApiRequest, chosen: ChosenAgents, all: boolean): Promise<ApiResult> => {
    const { ready, failed } = activeOnes(chosen);
    const [legacy, current] = [
      ready.filter(({ version }) => takesTextOrders(version)),
      ready.filter(({ version }) => !takesTextOrders(version)),
    ];
    const sent = [
      await remoted.send(request, legacy, RESTART_TEXT_ORDER),
      await remoted.send(request, current, restartOrder({ name: parts.node(), module: 'api' })),
    ].flat();
    return orderResult(ready, [...failed, ...sent], all, RESTART_MESSAGES);
  };

  return {
    putAgentsRestart: async (request) => {
      const view = new AgentView(db, request);
      return restart(request, await agentsToOrder(view), view.isAll);
    },
    putAgentsAgentIdRestart: async (request) =>
      restart(request, await agentsToOrder(new AgentView(db, request)), false),
    putAgentsGroupGroupIdRestart: async (request) => {
      const name = request.parameters.group_id;
      const view = new AgentView(db, request);
      await parts.groups.require(request, name);
      const { ids } = await db.call(request, 'groups.agents', { name });
      const agents = ids.length === 0 ? [] : await view.all({ ids }, ORDER_FIELDS);
      return restart(request, { agents, failed: [] }, false);
    },
    putAgentsNodeNodeIdRestart: async (request) => {
      const name = request.parameters.node_id;
      requireNode(parts.configuration, name);
      const reporting = { status: 'active', node_name: name };
      const agents = await new AgentView(db, request).all(reporting, ORDER_FIELDS);
      return restart(request, { agents, failed: [] }, true);
    },
    putAgentsReconnect: async (request) => {
      const view = new AgentView(db, request);
      const { ready, failed } = activeOnes(await agentsToOrder(view));
      const able = ready.filter(({ version }) => !isOssec(version));
      for (const { id } of ready.filter(({ version }) => isOssec(version))) {
        failed.push({ id, error: new ApiError(1735, { extra: 'OSSEC-HIDS agents do not know this order' }) });
      }
      failed.push(...(await remoted.send(request, able, RECONNECT_TEXT)));
      return orderResult(ready, failed, view.isAll, RECONNECT_MESSAGES);
    },
  };
}

function isOssec(version: unknown): boolean {
  return typeof version === 'string' && isOssecVersion(version);
}
