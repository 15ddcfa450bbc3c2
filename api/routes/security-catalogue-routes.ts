import type { Operation } from '../../lib/contract/api-contract.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { dataResult } from '../http/envelope.js';
import { RESOURCES } from '../rbac/action-catalogue.js';
import { endpointName, listActions } from '../rbac/list-actions.js';

/** What policies may name (rest-api.md 6.9). */
export function securityCatalogueRoutes(operations: readonly Operation[]): OperationHandlers {
  const endpoints = operations.map(endpointName);
  return {
    getSecurityActions: ({ parameters: { endpoint } }) => {
      if (endpoint !== undefined && !endpoints.includes(endpoint)) {
        throw new ApiError(4020, { remediationExtra: endpoints.join(', ') });
      }
      return dataResult(listActions(operations, endpoint));
    },

    getSecurityResources: ({ parameters: { resource } }) => {
      const shown = Object.entries(RESOURCES).filter(([name]) => resource === undefined || name === resource);
      return dataResult(Object.fromEntries(shown.map(([name, description]) => [name, { description }])));
    },
  };
}
