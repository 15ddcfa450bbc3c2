import type { OperationHandlers } from '../http/api-request.js';
import { dataResult, listResult } from '../http/envelope.js';
import type { RbacStore } from '../rbac/rbac-store.js';

/** What callers may know of themselves, whatever their permissions are (rest-api.md 6.9). */
export function securityMeRoutes(store: RbacStore): OperationHandlers {
  return {
    getSecurityUsersMe: ({ caller: { user, claims } }) => {
      const roles = store.roles.some(claims.rbac_roles).map(({ id, name, policies, rules }) => ({
        id,
        name,
        policies: store.policies.some(policies),
        rules: store.rules.some(rules),
      }));
      const messages = { all: 'Current user information was returned', some: '-', none: '-' };
      const item = { id: user.id, username: user.name, allow_run_as: user.allowRunAs, roles };
      return listResult({ items: [item], total: 1, messages });
    },

    getSecurityUsersMePolicies: ({ policies }) => {
      const actions = [...policies.toMap()].map(([action, resources]) => [action, Object.fromEntries(resources)]);
      const data = { ...(Object.fromEntries(actions) as object), rbac_mode: policies.mode };
      return dataResult(data, 'Current user processed policies information was returned');
    },
  };
}
