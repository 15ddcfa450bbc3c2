import type { z } from 'zod';
import type { AgentFilter, agentMethods } from '../../lib/bus/contracts/db-agents.js';
import { parseSort } from '../../lib/query/sort-items.js';
import { AGENT_FIELDS, type AgentField, agentFields } from './agent-fields.js';
import { type AgentTest, compileFilter, type FilterContext } from './agent-filter.js';
import { agentItem, itemWeight } from './agent-item.js';
import type { AgentRow } from './agent-record.js';
import type { AgentSet } from './agent-set.js';
import { stableByRank } from './sorted-index.js';

export type ListParams = z.output<(typeof agentMethods)['agents.list']['params']>;
export type ItemPage = { readonly items: Record<string, unknown>[]; readonly total: number };

/** Bytes of a page, about: half of what the bus carries. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const ID_FIELD = 'id';

/**
 * A page of agents (rest-api.md 4, 6.2). Filters look at each agent once; the order comes from an index.
 * @throws QueryError
 */
export function listAgents(agents: AgentSet, params: ListParams, context: FilterContext): ItemPage {
  const rows = matchingAgents(agents, params, context, params.sort);
  const { select, offset, limit } = params;
  if (params.distinct === true && select !== undefined) return distinctPage(rows, agentFields(select, 1724), params);
  const fields = select === undefined ? undefined : agentFields([ID_FIELD, ...select], 1724);
  const items: Record<string, unknown>[] = [];
  let weight = 0;
  for (const row of rows.slice(offset, offset + limit)) {
    weight += itemWeight(row);
    if (weight > MAX_PAGE_BYTES && items.length > 0) break;
    items.push(agentItem(row, fields));
  }
  return { items, total: rows.length };
}

/**
 * Agents that pass, in order.
 * @param sort as the API takes it; by id without it
 * @throws QueryError
 */
export function matchingAgents(
  agents: AgentSet,
  filter: AgentFilter,
  context: FilterContext,
  sort?: string,
): readonly AgentRow[] {
  const order = parseSort(sort ?? ID_FIELD);
  const fields = agentFields(order.fields, 1403);
  const { candidates, tests } = compileFilter(filter, agents, context);
  const rows = candidates ?? (isAscendingBy(order, fields) ? ordered(agents, fields[0]) : agents.byId());
  const found = tests.length === 0 ? rows : rows.filter(joined(tests));
  if (candidates === undefined && isAscendingBy(order, fields)) return found;
  let result: readonly AgentRow[] = found;
  if (fields.length === 1 && fields[0]?.name === ID_FIELD) return order.descending ? result.toReversed() : result;
  for (const field of fields.toReversed()) {
    result = stableByRank(result, agents.sorted(field).ranks(), order.descending);
  }
  return result;
}

/** Whether the order is one that is kept as it is. */
function isAscendingBy({ descending }: { readonly descending: boolean }, fields: readonly AgentField[]): boolean {
  return !descending && fields.length === 1;
}

function ordered(agents: AgentSet, field: AgentField | undefined): readonly AgentRow[] {
  return field === undefined || field.name === ID_FIELD ? agents.byId() : agents.sorted(field).order();
}

function joined(tests: readonly AgentTest[]): AgentTest {
  const [first, second] = tests;
  if (first !== undefined && second === undefined) return first;
  return (row) => {
    for (const test of tests) if (!test(row)) return false;
    return true;
  };
}

/** Different rows of the selected fields; those in which one is missing are left out (rest-api.md 4.1). */
function distinctPage(
  rows: readonly AgentRow[],
  fields: readonly AgentField[],
  { offset, limit }: ListParams,
): ItemPage {
  // What one row of a group lacks, all of them do.
  const different = groupByValues(rows, fields)
    .map(([first]) => first)
    .filter((row) => fields.every((field) => (field.read(row) ?? '') !== ''));
  const items = different.slice(offset, offset + limit).map((row) => agentItem(row, fields));
  return { items, total: different.length };
}

/** Rows by the values they have in these fields, in the order in which each is first met. */
export function groupByValues(rows: readonly AgentRow[], fields: readonly AgentField[]): [AgentRow, ...AgentRow[]][] {
  const groups: [AgentRow, ...AgentRow[]][] = [];
  const first: ValueTree = new Map();
  const last = fields.at(-1);
  for (const row of rows) {
    let branch = first;
    for (const field of fields) {
      const value = plainValue(field, row);
      let next = branch.get(value);
      if (next === undefined) {
        next = field === last ? [row] : new Map<unknown, ValueNode>();
        branch.set(value, next);
        if (Array.isArray(next)) groups.push(next);
      } else if (Array.isArray(next)) {
        next.push(row);
      }
      if (!Array.isArray(next)) branch = next;
    }
  }
  return groups;
}

type ValueTree = Map<unknown, ValueNode>;
type ValueNode = ValueTree | [AgentRow, ...AgentRow[]];

function plainValue(field: AgentField, row: AgentRow): unknown {
  const value = field.read(row);
  return Array.isArray(value) ? value.join(',') : value;
}

/** Fields to count by, all when none are named. @throws QueryError 1724 */
export function countFields(names: readonly string[] | undefined): readonly AgentField[] {
  return names === undefined ? [...AGENT_FIELDS.values()] : agentFields(names, 1724);
}
