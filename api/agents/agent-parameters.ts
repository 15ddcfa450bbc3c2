import { type AgentFilter, EQUALITY_FILTERS } from '../../lib/bus/contracts/db-agents.js';
import type { ParameterValues } from '../http/parameter-values.js';
import type { ListParameters } from './agent-view.js';

/** Filters of a request on agents (rest-api.md 6.2) besides `q` and `search`; the same names in svc-db. */
export function agentFilters(parameters: ParameterValues): AgentFilter {
  const filter: AgentFilter = {};
  const olderThan = parameters.text('older_than');
  if (olderThan !== undefined) filter.older_than = olderThan;
  for (const name of EQUALITY_FILTERS) {
    const value = parameters.text(name) ?? parameters.texts(name);
    if (value !== undefined) filter[name] = typeof value === 'string' ? value : [...value];
  }
  return filter;
}

/** Every filter and the common list parameters of a request. */
export function agentListParameters(parameters: ParameterValues): ListParameters {
  return { ...agentFilters(parameters), ...tableParameters(parameters) };
}

/** The common list parameters of a request (rest-api.md 4.1), as svc-db takes them. */
export function tableParameters(parameters: ParameterValues) {
  const [q, search, sort] = [parameters.text('q'), parameters.text('search'), parameters.text('sort')];
  const select = parameters.texts('select');
  return {
    ...(q === undefined ? {} : { q }),
    ...(search === undefined ? {} : { search }),
    ...(sort === undefined ? {} : { sort }),
    ...(select === undefined ? {} : { select: [...select] }),
    distinct: parameters.flag('distinct'),
    offset: parameters.integer('offset') ?? 0,
    limit: parameters.integer('limit') ?? 500,
  };
}
