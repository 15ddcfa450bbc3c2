import type { StatesSource } from '../../../daemons/monitord/outputs/states/state-agents.js';
import {
  stateAgent,
  StateDocuments,
  stateId,
  type StateOrigin,
} from '../../../daemons/monitord/outputs/states/state-document.js';
import { STATE_TABLES } from '../../../daemons/monitord/outputs/states/state-tables.js';

/** Documents by id, by index. */
export type StatesByIndex = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const PAGE = 5000;

/** What indices of states should hold: each row of svc-db, with what the registry says of its agent. */
export async function expectedStates(
  db: StatesSource,
  agents: readonly Readonly<Record<string, unknown>>[],
  origin: StateOrigin,
): Promise<StatesByIndex> {
  const documents = new StateDocuments(origin);
  const all: Record<string, Record<string, unknown>> = {};
  for (const table of STATE_TABLES) {
    const found: Record<string, unknown> = {};
    all[`wazuh-states-inventory-${table.kind}-${origin.cluster.toLowerCase()}`] = found;
    for (const agent of agents.map(stateAgent)) {
      for (let after: Uint8Array | undefined; ;) {
        const params = { agent: agent.id, table: table.table, limit: PAGE, ...(after === undefined ? {} : { after }) };
        const { rows } = await db.call('inventory.rows', params);
        for (const { key, row } of rows) {
          const id = stateId(agent.id, table, key);
          const text = documents.make(table, agent, row);
          if (id !== undefined && text !== undefined) found[id] = JSON.parse(text);
        }
        after = rows.at(-1)?.key;
        if (after === undefined) break;
      }
    }
  }
  return all;
}

/** JSON of a value whose members are in the order of their names. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}
