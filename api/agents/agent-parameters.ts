import { type AgentFilter, EQUALITY_FILTERS } from '../../lib/bus/contracts/db-agents.js';
import type { Operations } from '../contract/operations.js';
import { type Given, pickGiven } from '../contract/pick-given.js';
import type { PageBounds } from '../daemons/collect-pages.js';
import type { ListParameters } from './agent-view.js';

/** Filters that operations on agents have, each some of them (rest-api.md 6.2). */
export type AgentFilterParameters = {
  readonly older_than?: string;
} & Readonly<Partial<Record<(typeof EQUALITY_FILTERS)[number], string | readonly string[]>>>;

/** The common parameters of lists that svc-db makes (rest-api.md 4.1). */
export type TableParameters = Pick<
  Operations['getAgents']['parameters'],
  'offset' | 'limit' | 'sort' | 'search' | 'q'
> & {
  readonly select?: readonly string[];
  readonly distinct?: boolean;
};

/** Filters on agents (rest-api.md 6.2) besides `q` and `search`. */
const AGENT_FILTERS = ['older_than', ...EQUALITY_FILTERS] as const;
/** The common parameters of lists (rest-api.md 4.1). */
const TABLE_PARAMETERS = ['q', 'search', 'sort', 'select', 'distinct', 'offset', 'limit'] as const;

/** The same as svc-db takes them. */
export type TableQuery = Given<TableParameters, (typeof TABLE_PARAMETERS)[number]> & PageBounds;

/** Filters of a request on agents (rest-api.md 6.2) besides `q` and `search`; the same names in svc-db. */
export function agentFilters(parameters: AgentFilterParameters): AgentFilter {
  return pickGiven(parameters, AGENT_FILTERS);
}

/** Every filter and the common list parameters of a request. */
export function agentListParameters(parameters: AgentFilterParameters & TableParameters): ListParameters {
  return { ...agentFilters(parameters), ...tableParameters(parameters) };
}

/** The common list parameters of a request (rest-api.md 4.1), as svc-db takes them. */
export function tableParameters(parameters: TableParameters): TableQuery {
  const { offset, limit } = parameters;
  return { ...pickGiven(parameters, TABLE_PARAMETERS), offset, limit };
}
