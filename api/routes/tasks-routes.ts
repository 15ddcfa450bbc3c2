import { isAgentId } from '../../lib/agentlink/agent-identity.js';
import type { ShownTask } from '../../lib/bus/contracts/modulesd.js';
import { taskTime } from '../agents/task-time.js';
import { pickGiven } from '../contract/pick-given.js';
import type { ModulesdClient } from '../daemons/modulesd-client.js';
import type { OperationHandlers } from '../http/api-request.js';
import { listResult } from '../http/envelope.js';
import { pageOf } from '../lists/list-parameters.js';

const FIELDS = [
  ...['task_id', 'agent_id', 'node', 'module', 'command'],
  ...['create_time', 'last_update_time', 'status', 'error_message'],
];

/** Tasks of agents (rest-api.md 6.16). */
export function tasksRoutes(modulesd: ModulesdClient): OperationHandlers {
  return {
    getTasksStatus: async (request) => {
      const { parameters } = request;
      const { agents_list: agents, tasks_list: ids } = parameters;
      const tasks = await modulesd.tasks(request, {
        ...pickGiven(parameters, ['command', 'node', 'module', 'status']),
        // Ids that nothing has are no error: they find nothing.
        ...(agents === undefined ? {} : { agents: agents.filter(isAgentId) }),
        ...(ids === undefined ? {} : { tasks: ids.map(Number).filter(Number.isSafeInteger) }),
      });
      // Those of other nodes have numbers of their own, and say which node it is.
      const elsewhere = (request.part.elsewhere ?? []) as readonly ReturnType<typeof taskItem>[];
      const items = [...tasks.map(taskItem), ...elsewhere].sort((a, b) => a.task_id - b.task_id);
      const page = pageOf(items, parameters, { sortFields: FIELDS, selectFields: FIELDS });
      const messages = {
        all: "All specified task's status were returned",
        some: 'Some status were not returned',
        none: 'No status was returned',
      };
      return listResult({ ...page, messages });
    },
  };
}

function taskItem({ id, agent, node, module, command, created, updated, status, error }: ShownTask) {
  return {
    task_id: id,
    agent_id: agent,
    node,
    module,
    command,
    create_time: taskTime(created),
    last_update_time: taskTime(updated),
    status,
    error_message: error,
  };
}
