import { EQUALITY_FILTERS } from '../../lib/bus/contracts/db-agents.js';
import { ApiError } from '../http/api-error.js';
import type { AgentFilterParameters } from './agent-parameters.js';

/**
 * 1731: an agent that was named and does not have what the filters of the request ask for:
 * `some of the requirements are not met -> older_than: 7d, q: id>5`.
 * @param first what is shown before the filters
 */
export function unmetRequirements(
  parameters: AgentFilterParameters & { readonly q?: string },
  ...first: readonly string[]
): ApiError {
  const shown = [...first];
  for (const name of ['older_than', ...EQUALITY_FILTERS, 'q'] as const) {
    const value = parameters[name];
    if (typeof value === 'string' && value !== '') shown.push(`${name}: ${value}`);
  }
  return new ApiError(1731, { extra: `some of the requirements are not met -> ${shown.join(', ')}` });
}
