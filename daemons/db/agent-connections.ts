import { applyKeepAlive, applyStatus, disconnected, NO_KEEPALIVE_CODE, RESET_CODE } from './agent-changes.js';
import { type AgentRow, MANAGER_ID } from './agent-record.js';
import { namedAgent } from './agent-rows.js';
import type { AgentHandlers, Now } from './handler-types.js';
import type { Registry } from './registry.js';

/** Answers of svc-db that change what is known of agents' connections. */
export function agentConnections(
  registry: Registry,
  now: Now,
): Pick<AgentHandlers, 'agents.keepalives' | 'agents.status' | 'agents.reset_connections' | 'agents.disconnect_stale'> {
  const { agents } = registry;
  const seconds = () => Math.floor(now() / 1000);
  return {
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

function connectedAgents(registry: Registry): AgentRow[] {
  return registry.agents
    .byId()
    .filter(({ id, record }) => id !== MANAGER_ID && (record.status === 'active' || record.status === 'pending'));
}
