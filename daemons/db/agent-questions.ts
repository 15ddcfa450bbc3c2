import { queryFailure } from '../../lib/bus/contracts/db-agents.js';
import { QueryError } from '../../lib/query/query-error.js';
import { agentFields } from './agent-fields.js';
import type { FilterContext } from './agent-filter.js';
import { agentItem } from './agent-item.js';
import { listAgents, matchingAgents } from './agent-list.js';
import { agentOverview } from './agent-overview.js';
import type { AgentRow } from './agent-record.js';
import { existingAgents } from './agent-rows.js';
import { withoutMask } from './agent-set.js';
import { countAgents, summariseAgents } from './agent-summary.js';
import type { AgentHandlers, Now } from './handler-types.js';
import { membershipPage } from './membership-page.js';
import type { Registry } from './registry.js';

/** Answers of svc-db about agents that change nothing. @param managerVersion `Wazuh v4.14.7` */
export function agentQuestions(
  registry: Registry,
  now: Now,
  managerVersion: string,
): Pick<
  AgentHandlers,
  | 'agents.get'
  | 'agents.find'
  | 'agents.list'
  | 'agents.ids'
  | 'agents.by_node'
  | 'agents.labels'
  | 'agents.summary'
  | 'agents.overview'
  | 'agents.count_by'
  | 'agents.memberships'
> {
  const { agents } = registry;
  const context = (): FilterContext => ({ now: now(), managerVersion });
  return {
    'agents.get': ({ ids, select }) =>
      answering(() => {
        const { rows, unknown } = existingAgents(registry, ids);
        const fields = select === undefined ? undefined : agentFields(['id', ...select], 1724);
        return { items: rows.map((row) => agentItem(row, fields)), unknown };
      }),

    'agents.find': ({ name, ip, registerIP }) => {
      const found = [
        ...(name === undefined ? [] : [agents.byName.get(name.toLowerCase())]),
        ...(ip === undefined ? [] : [agents.byAddress.get(ip.toLowerCase())]),
        ...(registerIP === undefined ? [] : [registeredAs(registry, registerIP)]),
      ].map((rows) => new Set(rows));
      const [first, ...others] = found;
      const rows = [...(first ?? [])].filter((row) => others.every((other) => other.has(row)));
      return { items: rows.sort((a, b) => a.id - b.id).map((row) => agentItem(row)) };
    },

    'agents.list': (params) => answering(() => listAgents(agents, params, context())),

    'agents.ids': (filter) =>
      answering(() => ({ ids: matchingAgents(agents, filter, context()).map((row) => row.idText) })),

    'agents.by_node': (filter) => answering(() => ({ nodes: agentsByNode(matchingAgents(agents, filter, context())) })),

    'agents.labels': ({ ids }) => {
      const { rows, unknown } = existingAgents(registry, ids);
      return { agents: rows.map((row) => ({ id: row.idText, labels: [...registry.labels(row.id)] })), unknown };
    },

    'agents.summary': (filter) => answering(() => summariseAgents(matchingAgents(agents, filter, context()))),

    'agents.overview': (filter) => agentOverview(matchingAgents(agents, filter, context())),

    'agents.count_by': (params) =>
      answering(() => countAgents(matchingAgents(agents, params, context(), params.sort), params)),

    'agents.memberships': (params) => membershipPage(agents, params),
  };
}

function agentsByNode(rows: readonly AgentRow[]): { node: string; ids: string[] }[] {
  const nodes = new Map<string, string[]>();
  for (const { idText, record } of rows) {
    const ids = nodes.get(record.nodeName);
    if (ids === undefined) nodes.set(record.nodeName, [idText]);
    else ids.push(idText);
  }
  return [...nodes].map(([node, ids]) => ({ node, ids }));
}

/** The very text, or the same address with any mask (agents-and-groups.md 10.5). */
function registeredAs(registry: Registry, address: string): AgentRow[] {
  const wanted = address.toLowerCase();
  return [...registry.agents.byRegisteredAddress.get(withoutMask(wanted))].filter(({ record }) => {
    const registered = record.registerIP.toLowerCase();
    return registered === wanted || registered.startsWith(`${wanted}/`);
  });
}

/** List parameters that cannot be applied become errors of the contract. */
function answering<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof QueryError ? queryFailure(error) : error;
  }
}
