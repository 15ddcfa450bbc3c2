import type { z } from 'zod';
import { type agentMethods, MAX_AGENTS_PER_PAGE } from '../../lib/bus/contracts/db-agents.js';
import { type AgentField, agentFields } from './agent-fields.js';
import { agentItem } from './agent-item.js';
import type { ItemPage } from './agent-list.js';
import { type AgentOs, type AgentRow, MANAGER_ID } from './agent-record.js';
import { AgentStates } from './agent-states.js';
import { countGroups, MISSING } from './agent-summary.js';
import { Tallies } from './tallies.js';

type Overview = z.output<(typeof agentMethods)['agents.overview']['result']>;

const NODE_FIELDS = agentFields(['node_name'], 1724);
const SYSTEM_FIELDS = agentFields(['os.name', 'os.platform', 'os.version'], 1724);
const VERSION_FIELDS = agentFields(['version'], 1724);

/**
 * What `GET /overview/agents` shows, without 000 (rest-api.md 6.1).
 * @param rows in order of their ids
 */
export function agentOverview(rows: readonly AgentRow[]): Overview {
  const states = new AgentStates();
  const nodes = new Tallies<string>();
  const systems = new Tallies<AgentOs | undefined>();
  const versions = new Tallies<string | undefined>();
  const lists = new Tallies<readonly string[]>();
  let last: AgentRow | undefined;
  for (const row of rows) {
    if (row.id === MANAGER_ID) continue;
    const { record } = row;
    states.add(row);
    nodes.add(record.nodeName, row);
    systems.add(record.os, row);
    versions.add(record.version, row);
    lists.add(record.groups, row);
    // Of those registered in one second the one with the largest id.
    if (last === undefined || record.dateAdd >= last.record.dateAdd) last = row;
  }
  return {
    ...states.counts,
    nodes: counted(nodes, NODE_FIELDS),
    systems: counted(systems, SYSTEM_FIELDS),
    versions: counted(versions, VERSION_FIELDS),
    groups: countGroups(lists),
    last: last === undefined ? [] : [agentItem(last)],
  };
}

/** Groups of equal values with their count, as `agents.count_by` shows them. */
function counted<K>(tallies: Tallies<K>, fields: readonly AgentField[]): ItemPage {
  const groups = new Map<string, { readonly row: AgentRow; count: number }>();
  for (const { row, count } of tallies.values()) {
    const values = JSON.stringify(fields.map((field) => field.read(row) ?? null));
    const known = groups.get(values);
    if (known === undefined) groups.set(values, { row, count });
    else known.count += count;
  }
  const page = [...groups.values()].slice(0, MAX_AGENTS_PER_PAGE);
  return {
    items: page.map(({ row, count }) => ({ ...agentItem(row, fields, MISSING), count })),
    total: groups.size,
  };
}
