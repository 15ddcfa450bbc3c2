import { BusError } from '../../lib/bus/bus-error.js';
import type { Handlers } from '../../lib/bus/contract.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import { type agentMethods, type NamedAgent, queryFailure } from '../../lib/bus/contracts/db-agents.js';
import { QueryError } from '../../lib/query/query-error.js';
import {
  applyChanges,
  applyKeepAlive,
  applyStatus,
  disconnected,
  NO_KEEPALIVE_CODE,
  RESET_CODE,
} from './agent-changes.js';
import { agentFields } from './agent-fields.js';
import type { FilterContext } from './agent-filter.js';
import { agentItem } from './agent-item.js';
import { listAgents, matchingAgents } from './agent-list.js';
import { agentOverview } from './agent-overview.js';
import { type AgentRecord, type AgentRow, MANAGER_ID } from './agent-record.js';
import { withoutMask } from './agent-set.js';
import { countAgents, summariseAgents } from './agent-summary.js';
import { changeMembership, DEFAULT_GROUP } from './membership.js';
import { membershipPage } from './membership-page.js';
import type { Registry } from './registry.js';

type AgentHandlers = Pick<Handlers<typeof dbContract>, keyof typeof agentMethods>;

/** Milliseconds since the epoch; tests bring their own. */
export type Now = () => number;

/** Answers of svc-db about agents (lib/bus/contracts/db-agents.ts). @param managerVersion `Wazuh v4.14.7` */
export function agentsHandlers(registry: Registry, now: Now, managerVersion: string): AgentHandlers {
  const { agents } = registry;
  const seconds = () => Math.floor(now() / 1000);
  const context = (): FilterContext => ({ now: now(), managerVersion });
  return {
    'agents.register': ({ id, name, registerIP, dateAdd, groups = [DEFAULT_GROUP], replaces }) =>
      registry.edit((edit) => {
        registry.requireGroups(groups);
        registry.groupUses.note(groups);
        const number = Number(id);
        const replaced = existing(registry, replaces).rows;
        refuseManager(number, ...replaced.map((row) => row.id));
        for (const row of replaced) edit.deleteAgent(row);
        if (agents.get(number) !== undefined) throw new BusError('agent_exists', `There is an agent ${id} already`);
        edit.setAgent(number, newAgent(name, registerIP, dateAdd, [...new Set(groups)]));
        return { removed: replaced.map(namedAgent) };
      }),

    'agents.update': async ({ id, changes }) => {
      await registry.edit((edit) => {
        refuseManager(Number(id));
        applyChanges(registry, edit, registry.requireAgent(id), changes);
      });
      return {};
    },

    'agents.remove': ({ ids }) =>
      registry.edit((edit) => {
        const { rows, unknown } = existing(registry, ids);
        refuseManager(...rows.map((row) => row.id));
        for (const row of rows) edit.deleteAgent(row);
        return { removed: rows.map(namedAgent), unknown };
      }),

    'agents.get': ({ ids, select }) =>
      answering(() => {
        const { rows, unknown } = existing(registry, ids);
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

    'agents.labels': ({ ids }) => {
      const { rows, unknown } = existing(registry, ids);
      return { agents: rows.map((row) => ({ id: row.idText, labels: [...registry.labels(row.id)] })), unknown };
    },

    'agents.summary': (filter) => answering(() => summariseAgents(matchingAgents(agents, filter, context()))),

    'agents.overview': (filter) => agentOverview(matchingAgents(agents, filter, context())),

    'agents.count_by': (params) =>
      answering(() => countAgents(matchingAgents(agents, params, context(), params.sort), params)),

    'agents.membership': ({ mode, agents: asked }) =>
      registry.edit((edit) => {
        if (mode !== 'remove') {
          const wanted = new Set(asked.flatMap(({ groups }) => groups));
          registry.requireGroups(wanted);
          registry.groupUses.note(wanted);
        }
        const changed: { id: string; groups: string[] }[] = [];
        const failed: { id: string; code: string; message: string }[] = [];
        for (const { id, groups } of asked) {
          const row = agents.get(Number(id));
          const result =
            row === undefined
              ? { code: 'unknown_agent', message: `There is no agent ${id}` }
              : row.id === MANAGER_ID
                ? { code: 'manager', message: MANAGER_REFUSAL }
                : changeMembership(row.id, mode, row.record.groups, groups);
          if ('code' in result) {
            failed.push({ id, ...result });
          } else if (row !== undefined && result.groups !== row.record.groups) {
            edit.setAgent(row.id, { ...row.record, groups: [...result.groups] });
            changed.push({ id, groups: [...result.groups] });
          }
        }
        return { changed, failed };
      }),

    'agents.memberships': (params) => membershipPage(agents, params),

    'agents.keepalives': ({ agents: beats }) =>
      registry.edit((edit) => {
        const unknown: string[] = [];
        const assigned: string[] = [];
        for (const { id, at, changes = {} } of beats) {
          const row = agents.get(Number(id));
          if (row === undefined || row.id === MANAGER_ID) {
            unknown.push(id);
            continue;
          }
          if (applyKeepAlive(registry, edit, row, changes)) assigned.push(id);
          registry.touch(row, at);
        }
        return { unknown, assigned };
      }),

    'agents.status': ({ agents: changes }) =>
      registry.edit((edit) => {
        const unknown: string[] = [];
        for (const change of changes) {
          const row = agents.get(Number(change.id));
          if (row === undefined || row.id === MANAGER_ID) unknown.push(change.id);
          else applyStatus(edit, row, change, seconds());
        }
        return { unknown };
      }),

    'agents.reset_connections': ({ at }) =>
      registry.edit((edit) => {
        const rows = connectedAgents(registry);
        for (const row of rows) edit.setAgent(row.id, disconnected(row.record, RESET_CODE, at));
        return { ids: rows.map((row) => row.idText) };
      }),

    'agents.disconnect_stale': ({ before, at }) =>
      registry.edit((edit) => {
        const rows = connectedAgents(registry).filter(({ lastKeepAlive = 0 }) => lastKeepAlive < before);
        for (const row of rows) edit.setAgent(row.id, disconnected(row.record, NO_KEEPALIVE_CODE, at));
        return { agents: rows.map((row) => ({ ...namedAgent(row), lastKeepAlive: row.lastKeepAlive ?? 0 })) };
      }),
  };
}

const MANAGER_REFUSAL = 'Action not available for Manager (agent 000)';

function refuseManager(...ids: readonly number[]): void {
  if (ids.includes(MANAGER_ID)) throw new BusError('manager', MANAGER_REFUSAL);
}

/** Rows of these ids, each once, in the order of the ids given. */
function existing(registry: Registry, ids: readonly string[]): { rows: AgentRow[]; unknown: string[] } {
  const rows = new Set<AgentRow>();
  const unknown: string[] = [];
  for (const id of ids) {
    const row = registry.agents.get(Number(id));
    if (row === undefined) unknown.push(id);
    else rows.add(row);
  }
  return { rows: [...rows], unknown };
}

/** The very text, or the same address with any mask (agents-and-groups.md 10.5). */
function registeredAs(registry: Registry, address: string): AgentRow[] {
  const wanted = address.toLowerCase();
  return [...registry.agents.byRegisteredAddress.get(withoutMask(wanted))].filter(({ record }) => {
    const registered = record.registerIP.toLowerCase();
    return registered === wanted || registered.startsWith(`${wanted}/`);
  });
}

function connectedAgents(registry: Registry): AgentRow[] {
  return registry.agents
    .byId()
    .filter(({ id, record }) => id !== MANAGER_ID && (record.status === 'active' || record.status === 'pending'));
}

function namedAgent(row: AgentRow): NamedAgent {
  return { id: row.idText, name: row.record.name, ip: row.address, registerIP: row.record.registerIP };
}

function newAgent(name: string, registerIP: string, dateAdd: number, groups: readonly string[]): AgentRecord {
  return {
    name,
    registerIP,
    nodeName: 'unknown',
    dateAdd,
    groups,
    status: 'never_connected',
    statusCode: 0,
    disconnectionTime: 0,
  };
}

/** List parameters that cannot be applied become errors of the contract. */
function answering<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof QueryError ? queryFailure(error) : error;
  }
}
