import { isObject } from '../../lib/json/is-object.js';
import { type AgentsRequest, AgentView } from '../agents/agent-view.js';
import type { GroupSums } from '../agents/group-sums.js';
import type { DbClient } from '../daemons/db-client.js';
import type { GroupDirectory } from '../groups/group-directory.js';
import type { OperationHandlers } from '../http/api-request.js';
import { dataResult, listResult } from '../http/envelope.js';

/** What is counted of agents that do not have a value. */
const MISSING = 'N/A';

/** Agents in numbers (rest-api.md 6.1, 6.2). */
export function agentsSummaryRoutes(db: DbClient, known: GroupDirectory, sums: GroupSums): OperationHandlers {
  const viewOf = (request: AgentsRequest) => new AgentView(db, request);
  return {
    getAgentsSummary: async (request) => {
      const view = viewOf(request);
      const chosen = view.isAll ? {} : { ids: (await view.choose()).agents.map(({ id }) => id) };
      const { connection, os, groups } = await view.summary(chosen);
      const { total: _total, ...status } = connection;
      return dataResult({ status, os, groups });
    },

    getAgentsSummaryStatus: async (request) => {
      const { connection, configuration } = await viewOf(request).summary();
      return dataResult({ connection, configuration });
    },

    getAgentsSummaryOs: async (request) => {
      // Counted, not listed: that needs no order of all agents.
      const page = await viewOf(request).countBy({ fields: ['os.platform'], limit: Number.POSITIVE_INFINITY });
      const platforms = page.items.flatMap(({ os }) => platformOf(os) ?? []).sort();
      const messages = {
        all: 'Showing the operative system of all specified agents',
        some: 'Could not get the operative system of some agents',
        none: 'Could not get the operative system of the agents',
      };
      return listResult({ items: platforms, total: platforms.length, messages });
    },

    getOverviewAgents: async (request) => {
      const view = viewOf(request);
      const [overview, groups] = await Promise.all([view.overview(), known.list(request)]);
      const { connection, configuration } = overview;
      const names = groups.map(({ name }) => name);
      const allowed = request.permitted.groups.of(names);
      // Of the members those whom the caller may see, as everything here.
      const counts = new Map(Object.entries(overview.groups));
      const shown = groups
        .filter(({ name }) => allowed.has(name))
        .map((group) => ({ ...group, count: counts.get(group.name) ?? 0 }));
      return dataResult({
        nodes: overview.nodes,
        groups: await sums.addTo(shown),
        agent_os: overview.systems,
        agent_status: { connection, configuration },
        agent_version: overview.versions,
        last_registered_agent: overview.last,
      });
    },
  };
}

function platformOf(os: unknown): string | undefined {
  const platform = isObject(os) ? os['platform'] : undefined;
  return typeof platform === 'string' && platform !== MISSING ? platform : undefined;
}
