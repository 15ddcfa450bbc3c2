import type { z } from 'zod';
import type { agentMethods } from '../../lib/bus/contracts/db-agents.js';
import { agentItem } from './agent-item.js';
import { countFields, groupByValues, type ItemPage } from './agent-list.js';
import { type AgentOs, type AgentRow, MANAGER_ID } from './agent-record.js';
import { AgentStates } from './agent-states.js';
import { Tallies } from './tallies.js';

type AgentsSummary = z.output<(typeof agentMethods)['agents.summary']['result']>;
type CountParams = z.output<(typeof agentMethods)['agents.count_by']['params']>;

/** Shown for a value that an agent does not have (rest-api.md 6.2, stats/distinct). */
export const MISSING = 'N/A';

/** Counts by status, synchronization, platform and group (agents-and-groups.md 10.4), without 000. */
export function summariseAgents(rows: readonly AgentRow[]): AgentsSummary {
  const states = new AgentStates();
  // Counted by what the agents share, and then by platform and group.
  const systems = new Tallies<AgentOs | undefined>();
  const lists = new Tallies<readonly string[]>();
  for (const row of rows) {
    if (row.id === MANAGER_ID) continue;
    states.add(row);
    systems.add(row.record.os, row);
    lists.add(row.record.groups, row);
  }
  return {
    ...states.counts,
    os: total(
      [...systems.values()].flatMap(({ key, count }) => (key?.platform === undefined ? [] : [[key.platform, count]])),
    ),
    groups: countGroups(lists),
  };
}

/** Agents by group. @param lists of groups, counted */
export function countGroups(lists: Tallies<readonly string[]>): Record<string, number> {
  return total([...lists.values()].flatMap(({ key, count }) => key.map((group): [string, number] => [group, count])));
}

function total(counts: readonly [string, number][]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
  return Object.fromEntries(sums);
}

/** Rows of equal values with their count (rest-api.md 6.2). @throws QueryError 1724 */
export function countAgents(rows: readonly AgentRow[], params: CountParams): ItemPage {
  const fields = countFields(params.fields);
  const groups = groupByValues(rows, fields);
  const page = groups.slice(params.offset, params.offset + params.limit);
  const items = page.map((group) => ({ ...agentItem(group[0], fields, MISSING), count: group.length }));
  return { items, total: groups.length };
}
