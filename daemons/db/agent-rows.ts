import { BusError } from '../../lib/bus/bus-error.js';
import type { NamedAgent } from '../../lib/bus/contracts/db-agents.js';
import { type AgentRow, MANAGER_ID } from './agent-record.js';
import type { Registry } from './registry.js';

/** What agent 000 answers to changes that only agents can have. */
export const MANAGER_REFUSAL = 'Action not available for Manager (agent 000)';

/** @throws BusError (manager) when the manager is among them */
export function refuseManager(...ids: readonly number[]): void {
  if (ids.includes(MANAGER_ID)) throw new BusError('manager', MANAGER_REFUSAL);
}

/** Rows of these ids, each once, in the order of the ids given. */
export function existingAgents(registry: Registry, ids: readonly string[]): { rows: AgentRow[]; unknown: string[] } {
  const rows = new Set<AgentRow>();
  const unknown: string[] = [];
  for (const id of ids) {
    const row = registry.agents.get(Number(id));
    if (row === undefined) unknown.push(id);
    else rows.add(row);
  }
  return { rows: [...rows], unknown };
}

/** An agent as other daemons show it. */
export function namedAgent(row: AgentRow): NamedAgent {
  return { id: row.idText, name: row.record.name, ip: row.address, registerIP: row.record.registerIP };
}
