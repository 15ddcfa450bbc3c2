import type { CallParams } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import { MAX_LIST_PAGE } from '../../lib/bus/contracts/db-lists.js';
import { tableParameters } from '../agents/agent-parameters.js';
import { type AgentsRequest, AgentView } from '../agents/agent-view.js';
import { clearStored, inOrder } from '../agents/clear-stored.js';
import { restartScans, type ScanRestartParts } from '../agents/scan-restart.js';
import { agentOfPath, hasConnected, noDatabase } from '../agents/stored-agent.js';
import type { Operations } from '../contract/operations.js';
import { pickGiven } from '../contract/pick-given.js';
import { collectPages } from '../daemons/collect-pages.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { type ApiResult, listResult } from '../http/envelope.js';

type FindingFilters = Omit<CallParams<typeof dbContract, 'rootcheck.list'>, 'agent'>;
type FindingStatus = NonNullable<FindingFilters['status']>;

/** What rootcheck found on agents (rest-api.md 6.11, integrity-and-inventory.md 9.5). */
export function rootcheckRoutes(parts: ScanRestartParts): OperationHandlers {
  const { db } = parts;
  return {
    getRootcheckAgentId: async (request) => {
      const agent = await agentOfPath(db, request);
      if (!hasConnected(agent)) throw noDatabase(agent.id);
      const filters = findingFilters(request.parameters);
      const page = await collectPages(tableParameters(request.parameters), MAX_LIST_PAGE, (bounds) =>
        db.call(request, 'rootcheck.list', { ...filters, ...bounds, agent: agent.id }),
      );
      const messages = {
        all: 'All selected rootcheck information was returned',
        some: 'Some rootcheck information was not returned',
        none: 'No rootcheck information was returned',
      };
      return listResult({ ...page, messages });
    },

    getRootcheckAgentIdLastScan: async (request) => {
      const { id } = await agentOfPath(db, request);
      const items = [await db.call(request, 'rootcheck.last_scan', { agent: id })];
      const none = 'No last scan information was returned';
      const messages = { all: 'Last rootcheck scan of the agent was returned', some: none, none };
      return listResult({ items, total: items.length, messages });
    },

    putRootcheck: (request) =>
      restartScans(parts, request, {
        all: 'Rootcheck scan was restarted on returned agents',
        some: 'Rootcheck scan was not restarted on some agents',
        none: 'No rootcheck scan was restarted',
      }),

    deleteRootcheckAgentId: (request) => clearFindings(db, request),
    deleteExperimentalRootcheck: (request) => clearFindings(db, request),
  };
}

async function clearFindings(db: DbClient, request: AgentsRequest): Promise<ApiResult> {
  const { agents, failed } = await new AgentView(db, request).choose();
  const items = inOrder(agents.map(({ id }) => id));
  await clearStored(db, request, 'rootcheck.clear', items);
  const messages = {
    all: 'Rootcheck database was cleared on returned agents',
    some: 'Rootcheck database was not cleared on some agents',
    none: 'No rootcheck database was cleared',
  };
  return listResult({ items, total: items.length, failed, messages });
}

/** @throws ApiError 1603 */
function findingFilters(parameters: Operations['getRootcheckAgentId']['parameters']): FindingFilters {
  const { status } = parameters;
  if (!isFindingStatus(status)) throw new ApiError(1603);
  return { ...tableParameters(parameters), ...pickGiven(parameters, ['pci_dss', 'cis']), status };
}

function isFindingStatus(text: string): text is FindingStatus {
  return text === 'all' || text === 'outstanding' || text === 'solved';
}
