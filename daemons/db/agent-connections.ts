import type { AgentStatus } from '../../lib/bus/contracts/db-agents.js';
import { applyKeepAlive, applyStatus, disconnected, NO_KEEPALIVE_CODE, RESET_CODE } from './agent-changes.js';
import { type AgentRow, MANAGER_ID } from './agent-record.js';
import { namedAgent } from './agent-rows.js';
import type { AgentHandlers, Now } from './handler-types.js';
import { ALONE, type Owners } from './presence/owners.js';
import type { Registry } from './registry.js';

/** Answers of svc-db that change what is known of agents' connections. @param owners which agents are this node's */
export function agentConnections(
  registry: Registry,
  now: Now,
  owners: Owners = ALONE,
): Pick<AgentHandlers, 'agents.keepalives' | 'agents.status' | 'agents.reset_connections' | 'agents.disconnect_stale'> {
  const { agents } = registry;
  const seconds = () => Math.floor(now() / 1000);
  const ownAgents = () => connectedAgents(registry).filter((row) => owners.isOwn(row));
  return {
    'agents.keepalives': async ({ agents: beats }) => {
      await owners.prepare(beats.map(({ id }) => id));
      return registry.edit((edit) => {
        const unknown: string[] = [];
        const assigned: string[] = [];
        const incomplete: string[] = [];
        for (const { id, at, changes } of beats) {
          const row = agents.get(Number(id));
          if (row === undefined || row.id === MANAGER_ID) {
            unknown.push(id);
            continue;
          }
          owners.take(edit, row);
          if (changes !== undefined) row.partial = false;
          if (row.partial) incomplete.push(id);
          if (applyKeepAlive(registry, edit, row, changes ?? {})) assigned.push(id);
          registry.touch(row, at);
          owners.beat(row);
        }
        return { unknown, assigned, incomplete };
      });
    },

    'agents.status': async ({ agents: changes }) => {
      await owners.prepare(changes.filter(isBeginning).map(({ id }) => id));
      return registry.edit((edit) => {
        const unknown: string[] = [];
        for (const change of changes) {
          const row = agents.get(Number(change.id));
          if (row === undefined || row.id === MANAGER_ID) {
            unknown.push(change.id);
            continue;
          }
          // Who ends a connection here, or is refused, and was connected elsewhere last, changes nothing there.
          if (!isBeginning(change) && !owners.isOwn(row)) continue;
          owners.take(edit, row);
          applyStatus(edit, row, change, seconds());
        }
        return { unknown };
      });
    },

    'agents.reset_connections': async ({ at }) => {
      await owners.settled();
      return registry.edit((edit) => {
        const rows = ownAgents();
        for (const row of rows) edit.setAgent(row.id, disconnected(row.record, RESET_CODE, at));
        return { ids: rows.map((row) => row.idText) };
      });
    },

    'agents.disconnect_stale': ({ before, at }) =>
      registry.edit((edit) => {
        if (!owners.mayDisconnect(at - before)) return { agents: [], judged: false };
        const rows = ownAgents().filter(({ lastKeepAlive = 0 }) => lastKeepAlive < before);
        for (const row of rows) edit.setAgent(row.id, disconnected(row.record, NO_KEEPALIVE_CODE, at));
        return {
          agents: rows.map((row) => ({ ...namedAgent(row), lastKeepAlive: row.lastKeepAlive ?? 0 })),
          judged: true,
        };
      }),
  };
}

function connectedAgents(registry: Registry): AgentRow[] {
  return registry.agents.byId().filter((row) => row.id !== MANAGER_ID && isConnected(row));
}

function isConnected({ record: { status } }: AgentRow): boolean {
  return status === 'active' || status === 'pending';
}

function isBeginning({ status }: { readonly status?: AgentStatus | undefined }): boolean {
  return status === 'pending' || status === 'active';
}
