import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { chosenIds } from '../rbac/chosen-ids.js';
import type { PolicyAdministration } from '../rbac/policy-administration.js';
import type { Policy } from '../rbac/rbac-model.js';
import type { RbacStore } from '../rbac/rbac-store.js';
import { SecurityItems } from '../rbac/security-items.js';
import { changedResult, changeOne, deletedResult, securityList } from './security-answers.js';

/** Policies (rest-api.md 6.9). */
export function securityPoliciesRoutes(store: RbacStore, administration: PolicyAdministration): OperationHandlers {
  const item = (policy: Policy) => new SecurityItems(store).policy(policy);
  return {
    getSecurityPolicies: ({ permitted, parameters }) => {
      const items = new SecurityItems(store);
      return securityList(parameters, {
        chosen: chosenIds(permitted.policies, store.policies.all()),
        find: (id) => store.policies.get(id),
        item: (policy) => items.policy(policy),
        unknown: 4007,
        sortFields: ['id', 'name'],
        messages: {
          all: 'All specified policies were returned',
          some: 'Some policies were not returned',
          none: 'No policy was returned',
        },
      });
    },

    postSecurityPolicies: async ({ body }) => {
      const result = await changeOne(body.name, () => administration.create(body.name, body.policy));
      const messages = { all: 'Policy was successfully created', some: '-', none: 'Policy was not created' };
      return changedResult(result, item, messages);
    },

    putSecurityPoliciesPolicyId: async ({ parameters, body }) => {
      const id = Number(parameters.policy_id);
      if (body.name === undefined && body.policy === undefined) throw new ApiError(4001);
      const result = await changeOne(id, () => administration.update(id, body));
      const messages = { all: 'Policy was successfully updated', some: '-', none: 'Policy was not updated' };
      return changedResult(result, item, messages);
    },

    deleteSecurityPolicies: ({ permitted }) => {
      const items = new SecurityItems(store);
      return deletedResult(
        chosenIds(permitted.policies, store.policies.all()),
        (chosen) => administration.remove(chosen),
        (policy) => items.policy(policy),
        {
          all: 'All specified policies were deleted',
          some: 'Some policies were not deleted',
          none: 'No policy was deleted',
        },
      );
    },
  };
}
