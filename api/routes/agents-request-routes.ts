import { MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import { isOlderThan, type ReleaseLine } from '../../lib/agentlink/agent-version.js';
import { requireConfiguration } from '../agents/agent-components.js';
import { type AgentItem, AgentView } from '../agents/agent-view.js';
import { collectedState } from '../agents/collected-state.js';
import type { DbClient } from '../daemons/db-client.js';
import type { ManagerDaemons } from '../daemons/manager-daemons.js';
import type { RemotedClient } from '../daemons/remoted-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { dataResult, listResult } from '../http/envelope.js';

/** First release lines that answer, and how refusals write them. */
const CONFIGURATION_SINCE: ReleaseLine = { major: 3, minor: 7 };
const STATISTICS_SINCE: ReleaseLine = { major: 4, minor: 2 };

type ComponentOperation = 'getAgentsAgentIdConfigComponentConfiguration' | 'getAgentsAgentIdStatsComponent';

/** Who is asked: agents through svc-remoted, and for agent 000 the manager's own daemons. */
export type AgentsRequestParts = {
  readonly db: DbClient;
  readonly remoted: RemotedClient;
  readonly manager: ManagerDaemons;
};

/** What agents say of themselves when they are asked (rest-api.md 6.2). */
export function agentsRequestRoutes(parts: AgentsRequestParts): OperationHandlers {
  const { db, remoted, manager } = parts;
  const FIELDS = ['status', 'version'];
  const choose = (request: ApiRequest<ComponentOperation>) => new AgentView(db, request).choose(FIELDS);

  return {
    getAgentsAgentIdConfigComponentConfiguration: async (request) => {
      const component = request.parameters.component;
      const configuration = request.parameters.configuration;
      const { agents, failed } = await choose(request);
      const [agent] = agents;
      if (agent === undefined) throw failed[0]?.error ?? new ApiError(1701);
      requireConfiguration(component, configuration);
      if (agent.id === MANAGER_ID) {
        return dataResult(await manager.configuration(component, configuration, request.signal));
      }
      if (agent['status'] !== 'active') throw new ApiError(1740);
      requireVersion(agent, CONFIGURATION_SINCE);
      const answer = await remoted.ask(request, agent.id, component, `getconfig ${configuration}`);
      if (answer.ok) return dataResult(answer.value);
      throw new ApiError(answer.reached ? 1116 : 1117, { extra: `${component}:${configuration}` });
    },

    getAgentsAgentIdStatsComponent: async (request) => {
      const component = request.parameters.component;
      const { agents, failed } = await choose(request);
      const items: unknown[] = [];
      for (const agent of agents) {
        try {
          items.push(withDates(await statistics(parts, request, agent, component)));
        } catch (error) {
          if (!(error instanceof ApiError) || ![1310, 1735, 1117, 1701, 1740].includes(error.code)) throw error;
          failed.push({ id: agent.id, error: error.code === 1740 ? new ApiError(1117) : error });
        }
      }
      const messages = {
        all: 'Statistical information for each agent was successfully read',
        some: 'Could not read statistical information for some agents',
        none: 'Could not read statistical information for any agent',
      };
      return listResult({ items, total: items.length, failed, messages });
    },
  };
}

async function statistics(
  { remoted, manager }: AgentsRequestParts,
  request: ApiRequest,
  agent: AgentItem,
  component: string,
): Promise<unknown> {
  if (agent.id === MANAGER_ID) {
    if (component !== 'logcollector') throw new ApiError(1310);
    return manager.logcollectorState(request.signal);
  }
  requireVersion(agent, STATISTICS_SINCE);
  if (agent['status'] !== 'active') throw new ApiError(1117);
  const state = await collectedState((command) => remoted.ask(request, agent.id, component, command));
  if (state === undefined) throw new ApiError(1117);
  return state;
}

/** An agent that has not said its version is asked. @throws ApiError 1735 */
function requireVersion({ version }: AgentItem, since: ReleaseLine): void {
  if (typeof version !== 'string' || !isOlderThan(version, since)) return;
  throw new ApiError(1735, { extra: `Minimum required version is v${since.major}.${since.minor}.0` });
}

const DATE_FIELDS = new Set(['start', 'end', 'last_keepalive', 'last_ack']);
const AGENT_DATE = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/;

/** Times in the form of the API (rest-api.md 4.6). */
function withDates(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return DATE_FIELDS.has(name) ? value.replace(AGENT_DATE, '$1T$2Z') : value;
  if (Array.isArray(value)) return value.map((item) => withDates(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withDates(item, key)]));
}
