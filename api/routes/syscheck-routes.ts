import { isOlderThan, type ReleaseLine } from '../../lib/agentlink/agent-version.js';
import { MAX_LIST_PAGE } from '../../lib/bus/contracts/db-lists.js';
import { tableParameters } from '../agents/agent-parameters.js';
import { type AgentItem, type AgentsRequest, AgentView } from '../agents/agent-view.js';
import { clearStored, inOrder } from '../agents/clear-stored.js';
import { restartScans, type ScanRestartParts } from '../agents/scan-restart.js';
import { agentOfPath, hasConnected, noDatabase } from '../agents/stored-agent.js';
import { pickGiven } from '../contract/pick-given.js';
import { collectPages } from '../daemons/collect-pages.js';
import type { DbClient } from '../daemons/db-client.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { type ApiResult, listResult } from '../http/envelope.js';

/** Named alike here and in svc-db. */
const FIM_FILTERS = [
  'file',
  'arch',
  'value.name',
  'value.type',
  'type',
  'md5',
  'sha1',
  'sha256',
  'hash',
  'summary',
] as const;
/** Release line from which on agents keep their own database, which would bring back what is deleted here. */
const KEEPS_DATABASE_SINCE: ReleaseLine = { major: 3, minor: 12 };

/** File integrity of agents (rest-api.md 6.10, integrity-and-inventory.md 8). */
export function syscheckRoutes(parts: ScanRestartParts): OperationHandlers {
  const { db } = parts;
  return {
    getSyscheckAgentId: async (request) => {
      const agent = await agentOfPath(db, request).catch((error: unknown) => {
        const isUnknown = error instanceof ApiError && error.code === 1701;
        throw isUnknown ? noDatabase(request.permitted.agents.named?.[0] ?? '') : error;
      });
      if (!hasConnected(agent)) throw noDatabase(agent.id);
      const table = tableParameters(request.parameters);
      const filters = { ...table, ...pickGiven(request.parameters, FIM_FILTERS) };
      const page = await collectPages(table, MAX_LIST_PAGE, (bounds) =>
        db.call(request, 'fim.list', { ...filters, ...bounds, agent: agent.id }),
      );
      const none = 'No FIM information was returned';
      return listResult({ ...page, messages: { all: 'FIM findings of the agent were returned', some: none, none } });
    },

    getSyscheckAgentIdLastScan: async (request) => {
      const { id } = await agentOfPath(db, request);
      const items = [await db.call(request, 'fim.last_scan', { agent: id })];
      const none = 'No last scan information was returned';
      const messages = { all: 'Last syscheck scan of the agent was returned', some: none, none };
      return listResult({ items, total: items.length, messages });
    },

    putSyscheck: (request) =>
      restartScans(parts, request, {
        all: 'Syscheck scan was restarted on returned agents',
        some: 'Syscheck scan was not restarted on some agents',
        none: 'No syscheck scan was restarted',
      }),

    deleteSyscheckAgentId: (request) => clearFiles(db, request),
    deleteExperimentalSyscheck: (request) => clearFiles(db, request),
  };
}

async function clearFiles(db: DbClient, request: AgentsRequest): Promise<ApiResult> {
  const { agents, failed } = await new AgentView(db, request).choose(['version']);
  const items: string[] = [];
  for (const agent of agents) {
    const error = refusalToClear(agent);
    if (error === undefined) items.push(agent.id);
    else failed.push({ id: agent.id, error });
  }
  const ids = inOrder(items);
  await clearStored(db, request, 'fim.clear', ids);
  const messages = {
    all: 'Syscheck database was cleared on returned agents',
    some: 'Syscheck database was not cleared on some agents',
    none: 'No syscheck database was cleared',
  };
  return listResult({ items: ids, total: ids.length, failed, messages });
}

function refusalToClear({ version }: AgentItem): ApiError | undefined {
  if (typeof version !== 'string') return new ApiError(1015);
  if (isOlderThan(version, KEEPS_DATABASE_SINCE)) return undefined;
  const { major, minor } = KEEPS_DATABASE_SINCE;
  return new ApiError(1760, { extra: `Agent version should be < v${major}.${minor}.0.` });
}
