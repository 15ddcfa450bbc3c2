import { type AgentFilter, EQUALITY_FILTERS } from '../../lib/bus/contracts/db-agents.js';
import type { Operations } from '../contract/operations.js';
import type { ListParameters } from './agent-view.js';

type Texts = string | readonly string[];

/** Filters that operations on agents have, each some of them (rest-api.md 6.2). */
export type AgentFilterParameters = {
  readonly older_than?: string;
} & Readonly<Partial<Record<(typeof EQUALITY_FILTERS)[number], Texts>>>;

/** The common parameters of lists that svc-db makes (rest-api.md 4.1). */
export type TableParameters = Pick<
  Operations['getAgents']['parameters'],
  'offset' | 'limit' | 'sort' | 'search' | 'q'
> & {
  readonly select?: readonly string[];
  readonly distinct?: boolean;
};

/** Filters of a request on agents (rest-api.md 6.2) besides `q` and `search`; the same names in svc-db. */
export function agentFilters(parameters: AgentFilterParameters): AgentFilter {
  const filter: AgentFilter = {};
  if (parameters.older_than !== undefined) filter.older_than = parameters.older_than;
  for (const name of EQUALITY_FILTERS) {
    const value = parameters[name];
    if (value !== undefined) filter[name] = typeof value === 'string' ? value : [...value];
  }
  return filter;
}

/** Every filter and the common list parameters of a request. */
export function agentListParameters(parameters: AgentFilterParameters & TableParameters): ListParameters {
  return { ...agentFilters(parameters), ...tableParameters(parameters) };
}

/** The common list parameters of a request (rest-api.md 4.1), as svc-db takes them. */
export function tableParameters({ q, search, sort, select, distinct = false, offset, limit }: TableParameters) {
  return {
    ...(q === undefined ? {} : { q }),
    ...(search === undefined ? {} : { search }),
    ...(sort === undefined ? {} : { sort }),
    ...(select === undefined ? {} : { select: [...select] }),
    distinct,
    offset,
    limit,
  };
}
