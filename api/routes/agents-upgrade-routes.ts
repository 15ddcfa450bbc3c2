import type { ShownTask, WantedPackage } from '../../lib/bus/contracts/modulesd.js';
import { activeOnes } from '../agents/agent-orders.js';
import { AgentView } from '../agents/agent-view.js';
import { filteredAgents } from '../agents/filtered-agents.js';
import { taskTime } from '../agents/task-time.js';
import type { DbClient } from '../daemons/db-client.js';
import type { ModulesdClient } from '../daemons/modulesd-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, listResult, messageResult } from '../http/envelope.js';

const UPGRADE_MESSAGES = {
  all: 'All upgrade tasks were created',
  some: 'Some upgrade tasks were not created',
  none: 'No upgrade task was created',
};
const RESULT_MESSAGES = {
  all: 'All upgrade tasks were returned',
  some: 'Some upgrade tasks were not returned',
  none: 'No upgrade task was returned',
};

/** What 4.x calls the states of an upgrade; it words the last two, as this does. */
const SHOWN_STATUS: Readonly<Record<ShownTask['status'], string>> = {
  Pending: 'In queue',
  'In progress': 'Updating',
  Done: 'Updated',
  Failed: 'Error',
  Timeout: 'Timeout: the agent was not heard in time, look at its version',
  Legacy: 'Legacy upgrade: the agent cannot tell how it went, look at its version',
};

export type AgentsUpgradeParts = {
  readonly db: DbClient;
  readonly modulesd: ModulesdClient;
};

/** Upgrades of agents, which svc-modulesd carries out (rest-api.md 6.2, agents-and-groups.md 4.5). */
export function agentsUpgradeRoutes({ db, modulesd }: AgentsUpgradeParts): OperationHandlers {
  const upgrade = async (
    request: ApiRequest<'putAgentsUpgrade' | 'putAgentsUpgradeCustom'>,
    wanted: WantedPackage,
  ): Promise<ApiResult> => {
    const view = new AgentView(db, request);
    const { ready, failed } = activeOnes(
      await filteredAgents(view, request.parameters, ['status'], { status: 'active' }),
    );
    const agents = ready.map(({ id }) => id);
    const made = agents.length === 0 ? { tasks: [], failed: [] } : await modulesd.upgrade(request, agents, wanted);
    const items = made.tasks.map(({ agent, id }) => ({ agent, task_id: id }));
    items.sort((a, b) => Number(a.agent) - Number(b.agent));
    const messages = UPGRADE_MESSAGES;
    return listResult({ items, total: items.length, failed: [...failed, ...made.failed], messages });
  };

  return {
    putAgentsUpgrade: (request) => {
      const { upgrade_version: version, package_type: packageType, force } = request.parameters;
      return upgrade(request, {
        kind: 'release',
        force,
        ...(version === undefined ? {} : { version: version.startsWith('v') ? version : `v${version}` }),
        ...(packageType === undefined ? {} : { packageType }),
      });
    },
    putAgentsUpgradeCustom: (request) => {
      const { file_path: path, installer } = request.parameters;
      const wanted = { kind: 'file', path } as const;
      return upgrade(request, installer === undefined ? wanted : { ...wanted, installer });
    },
    getAgentsUpgradeResult: async (request) => {
      const view = new AgentView(db, request);
      const { agents, failed } = await filteredAgents(view, request.parameters);
      const chosen = agents.map(({ id }) => id);
      const { tasks, without } =
        chosen.length === 0 ? { tasks: [], without: [] } : await modulesd.lastUpgrades(request, chosen);
      const error = new ApiError(1813, { values: { text: 'There is no upgrade of the agent' } });
      // Of all agents nobody wants to hear who was never upgraded (rest-api.md 5.2).
      if (!view.isAll) failed.push(...without.map((id) => ({ id, error })));
      const items = tasks.map(resultItem).sort((a, b) => Number(a.agent) - Number(b.agent));
      return listResult({ items, total: items.length, failed, messages: RESULT_MESSAGES });
    },
    getAgentsUninstall: () => messageResult('User has permission to uninstall agents'),
  };
}

function resultItem({ id, agent, node, module, command, status, created, updated, error }: ShownTask) {
  return {
    message: 'Success',
    agent,
    task_id: id,
    node,
    module,
    command,
    status: SHOWN_STATUS[status],
    create_time: taskTime(created),
    update_time: taskTime(updated),
    ...(error === '' ? {} : { error_msg: error }),
  };
}
