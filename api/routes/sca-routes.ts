import { MAX_LIST_PAGE } from '../../lib/bus/contracts/db-lists.js';
import { tableParameters } from '../agents/agent-parameters.js';
import { type AgentItem, AgentView } from '../agents/agent-view.js';
import { hasConnected, noDatabase } from '../agents/stored-agent.js';
import { pickGiven } from '../contract/pick-given.js';
import { type CollectedItems, collectPages, type PageBounds } from '../daemons/collect-pages.js';
import type { DbClient } from '../daemons/db-client.js';
import type { OperationHandlers } from '../http/api-request.js';
import { type ListMessages, listResult } from '../http/envelope.js';

/** Named alike here and in svc-db. */
const POLICY_FILTERS = ['name', 'description', 'references'] as const;
const CHECK_FILTERS = [
  'title',
  'description',
  'rationale',
  'remediation',
  'command',
  'reason',
  'file',
  'process',
  'directory',
  'registry',
  'references',
  'result',
  'condition',
] as const;
const POLICY_MESSAGES: ListMessages = {
  all: 'All selected SCA information was returned',
  some: 'Some SCA information was not returned',
  none: 'No SCA information was returned',
};
const CHECK_MESSAGES: ListMessages = {
  all: 'All selected SCA/policy information was returned',
  some: 'Some SCA/policy information was not returned',
  none: 'No SCA/policy information was returned',
};

/** How agents do by policies (rest-api.md 6.12, integrity-and-inventory.md 10.6). */
export function scaRoutes(db: DbClient): OperationHandlers {
  return {
    getScaAgentId: async (request) => {
      const { agents, failed } = await new AgentView(db, request).choose(['status']);
      for (const agent of agents) if (!hasConnected(agent)) throw noDatabase(agent.id);
      const table = tableParameters(request.parameters);
      const filters = { ...table, ...pickGiven(request.parameters, POLICY_FILTERS) };
      const page = await ofAgent(agents, table, (agent, bounds) =>
        db.call(request, 'sca.policies', { ...filters, ...bounds, agent }),
      );
      return listResult({ ...page, failed, messages: POLICY_MESSAGES });
    },

    getScaAgentIdChecksPolicyId: async (request) => {
      const { agents, failed } = await new AgentView(db, request).choose();
      const { policy_id: policy } = request.parameters;
      const table = tableParameters(request.parameters);
      const filters = { ...table, ...pickGiven(request.parameters, CHECK_FILTERS), policy };
      const page = await ofAgent(agents, table, (agent, bounds) =>
        db.call(request, 'sca.checks', { ...filters, ...bounds, agent }),
      );
      return listResult({ ...page, failed, messages: CHECK_MESSAGES });
    },
  };
}

/** The page of the agent of a path; of one that is not there nothing. */
function ofAgent(
  [agent]: readonly AgentItem[],
  bounds: PageBounds,
  read: (agent: string, bounds: Required<PageBounds>) => Promise<CollectedItems>,
): Promise<CollectedItems> {
  if (agent === undefined) return Promise.resolve({ items: [], total: 0 });
  return collectPages(bounds, MAX_LIST_PAGE, (part) => read(agent.id, part));
}
