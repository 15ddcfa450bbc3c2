import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { chosenIds } from '../rbac/chosen-ids.js';
import type { SecurityRule } from '../rbac/rbac-model.js';
import type { RbacStore } from '../rbac/rbac-store.js';
import { SecurityItems } from '../rbac/security-items.js';
import type { SecurityRuleAdministration } from '../rbac/security-rule-administration.js';
import { changedResult, changeOne, deletedResult, securityList } from './security-answers.js';

/** Security rules, which give roles to logins with a context (rest-api.md 5.6, 6.9). */
export function securityRulesRoutes(store: RbacStore, administration: SecurityRuleAdministration): OperationHandlers {
  const item = (rule: SecurityRule) => new SecurityItems(store).rule(rule);
  return {
    getSecurityRules: ({ permitted, parameters }) => {
      const items = new SecurityItems(store);
      const chosen = chosenIds(permitted.rules, store.rules.all());
      return securityList(parameters, {
        chosen,
        find: (id) => store.rules.get(id),
        item: (rule) => items.rule(rule),
        unknown: 4022,
        // Ids of rules that fail are texts here (rest-api.md 6.9).
        failedIdsAsText: true,
        sortFields: ['id', 'name'],
        messages: {
          all: 'All specified security rules were returned',
          some: 'Some security rules were not returned',
          none: 'No security rule was returned',
        },
      });
    },

    postSecurityRules: async ({ body }) => {
      const result = await changeOne(body.name, () => administration.create(body.name, body.rule));
      const messages = {
        all: 'Security rule was successfully created',
        some: '-',
        none: 'Security rule was not created',
      };
      return changedResult(result, item, messages);
    },

    putSecurityRulesRuleId: async ({ parameters, body }) => {
      const id = Number(parameters.rule_id);
      if (body.name === undefined && body.rule === undefined) throw new ApiError(4001);
      const result = await changeOne(id, () => administration.update(id, body));
      const messages = {
        all: 'Security rule was successfully updated',
        some: '-',
        none: 'Security rule was not updated',
      };
      return changedResult(result, item, messages);
    },

    deleteSecurityRules: ({ permitted }) => {
      const items = new SecurityItems(store);
      return deletedResult(
        chosenIds(permitted.rules, store.rules.all()),
        (chosen) => administration.remove(chosen),
        (rule) => items.rule(rule),
        {
          all: 'All specified security rules were deleted',
          some: 'Some security rules were not deleted',
          none: 'No security rule was deleted',
        },
      );
    },
  };
}
