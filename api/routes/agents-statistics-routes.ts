import { BusError } from '../../lib/bus/bus-error.js';
import type { CallResult } from '../../lib/bus/contract.js';
import type { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import type { remotedContract } from '../../lib/bus/contracts/remoted.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Logger } from '../../lib/log/logger.js';
import { AgentView } from '../agents/agent-view.js';
import type { ApiSettings } from '../api-settings.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type FailedItem, listResult } from '../http/envelope.js';
import { shownDaemon } from '../manager/daemon-names.js';
import { isoTime } from '../manager/iso-time.js';

/** Daemons that count by agent, in the order shown. */
const COUNTING_DAEMONS = ['svc-analysisd', 'svc-remoted'] as const;

export type AgentsStatisticsParts = {
  readonly db: DbClient;
  readonly analysisd: RequestClient<typeof analysisdContract>;
  readonly remoted: RequestClient<typeof remotedContract>;
  readonly settings: () => Pick<ApiSettings, 'daemonNames'>;
  readonly logger: Logger;
};

/** What the manager's daemons counted of an agent (rest-api.md 6.2, daemons-and-config.md 11.3). */
export function agentsStatisticsRoutes(parts: AgentsStatisticsParts): OperationHandlers {
  return {
    getAgentsAgentIdDaemonsStats: async (request) => {
      const { agents, failed } = await new AgentView(parts.db, request).chooseAgents(['status']);
      const active = agents.filter(({ status }) => status === 'active').map(({ id }) => id);
      for (const { id, status } of agents) {
        if (status !== 'active') failed.push({ id, error: new ApiError(1707) });
      }
      const items = active.length === 0 ? [] : await countedOf(parts, request, active, failed);
      const messages = {
        all: 'Statistical information for each daemon was successfully read',
        some: 'Could not read statistical information for some daemons',
        none: 'Could not read statistical information for any daemon',
      };
      return listResult({ items, total: items.length, failed, messages });
    },
  };
}

/** An item a daemon; those that do not answer go into `failed`. */
async function countedOf(
  parts: AgentsStatisticsParts,
  request: ApiRequest<'getAgentsAgentIdDaemonsStats'>,
  ids: readonly string[],
  failed: FailedItem[],
): Promise<object[]> {
  const wanted: readonly string[] = request.parameters.daemons_list ?? COUNTING_DAEMONS;
  const chosen = COUNTING_DAEMONS.filter((one) => wanted.includes(one));
  // At once: several that do not answer take no longer than one.
  const counted = await Promise.all(
    chosen.map(async (daemon) => {
      const name = shownDaemon(daemon, parts.settings().daemonNames);
      try {
        const { timestamp, uptime, agents } = await ask(parts, daemon, ids, request.signal);
        const metricsOf = agents.map(({ id, metrics }) => ({ id: Number(id), uptime: isoTime(uptime), metrics }));
        return [{ name, timestamp: isoTime(timestamp), agents: metricsOf }];
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        parts.logger.debug(`No statistics of agents from ${daemon}: ${error.message}`);
        failed.push({ id: name, error: new ApiError(1121) });
        return [];
      }
    }),
  );
  return counted.flat();
}

/** @throws BusError when the daemon does not answer */
function ask(
  { analysisd, remoted }: AgentsStatisticsParts,
  daemon: (typeof COUNTING_DAEMONS)[number],
  ids: readonly string[],
  signal: AbortSignal,
): Promise<CallResult<typeof remotedContract, 'statistics.agents'>> {
  const params = { ids: [...ids] };
  return daemon === 'svc-analysisd'
    ? analysisd.call('statistics.agents', params, { signal })
    : remoted.call('statistics.agents', params, { signal });
}
