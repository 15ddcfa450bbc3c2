import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import type { ListMessages } from '../http/envelope.js';
import { chosenIds } from '../rbac/chosen-ids.js';
import type { Role } from '../rbac/rbac-model.js';
import type { RbacStore } from '../rbac/rbac-store.js';
import type { RoleAdministration } from '../rbac/role-administration.js';
import { SecurityItems } from '../rbac/security-items.js';
import { changedResult, changeOne, deletedResult, securityList } from './security-answers.js';

/** Roles (rest-api.md 6.9). */
export function securityRolesRoutes(store: RbacStore, administration: RoleAdministration): OperationHandlers {
  const item = (role: Role) => new SecurityItems(store).role(role);
  return {
    getSecurityRoles: ({ permitted, parameters }) => {
      const items = new SecurityItems(store);
      return securityList(parameters, {
        chosen: chosenIds(permitted.roles, store.roles.all()),
        find: (id) => store.roles.get(id),
        item: (role) => items.role(role),
        unknown: 4002,
        sortFields: ['id', 'name'],
        messages: {
          all: 'All specified roles were returned',
          some: 'Some roles were not returned',
          none: 'No role was returned',
        },
      });
    },

    postSecurityRoles: async ({ body }) => {
      const result = await changeOne(body.name, () => administration.create(body.name));
      const messages = { all: 'Role was successfully created', some: '-', none: 'Role was not created' };
      return changedResult(result, item, messages);
    },

    putSecurityRolesRoleId: async ({ parameters, body }) => {
      const id = Number(parameters.role_id);
      const { name } = body;
      if (name === undefined) throw new ApiError(4001);
      const result = await changeOne(id, () => administration.rename(id, name));
      const messages = { all: 'Role was successfully updated', some: '-', none: 'Role was not updated' };
      return changedResult(result, item, messages);
    },

    deleteSecurityRoles: ({ permitted }) => {
      // As they are before: who had the role is said.
      const items = new SecurityItems(store);
      return deletedResult(
        chosenIds(permitted.roles, store.roles.all()),
        (chosen) => administration.remove(chosen),
        (role) => items.role(role),
        {
          all: 'All specified roles were deleted',
          some: 'Some roles were not deleted',
          none: 'No role was deleted',
        },
      );
    },
  };
}

/** What a role is linked with and unlinked from: policies, and security rules (rest-api.md 6.9). */
export function securityRoleLinksRoutes(store: RbacStore, administration: RoleAdministration): OperationHandlers {
  const item = (role: Role) => new SecurityItems(store).role(role);
  return {
    postSecurityRolesRoleIdPolicies: async ({ permitted, parameters }) => {
      const id = Number(parameters.role_id);
      const policies = chosenIds(permitted.policies, []);
      const result = await administration.linkPolicies(id, policies.ids, parameters.position);
      return changedResult(result, item, linked('policies', id), policies.failed);
    },

    deleteSecurityRolesRoleIdPolicies: async ({ permitted, parameters }) => {
      const id = Number(parameters.role_id);
      const there = store.policies.some(store.roles.get(id)?.policies ?? []);
      const policies = chosenIds(permitted.policies, there);
      const result = await administration.unlinkPolicies(id, policies.ids);
      return changedResult(result, item, unlinked('policies', 'policy', id), policies.failed);
    },

    postSecurityRolesRoleIdRules: async ({ permitted, parameters }) => {
      const id = Number(parameters.role_id);
      const rules = chosenIds(permitted.rules, []);
      const result = await administration.linkRules(id, rules.ids);
      return changedResult(result, item, linked('security rules', id), rules.failed);
    },

    deleteSecurityRolesRoleIdRules: async ({ permitted, parameters }) => {
      const id = Number(parameters.role_id);
      const there = store.rules.some(store.roles.get(id)?.rules ?? []);
      const rules = chosenIds(permitted.rules, there);
      const { changed, failed } = await administration.unlinkRules(id, rules.ids);
      // Ids of rules are texts here (rest-api.md 6.9).
      const named = [...rules.failed, ...failed].map((one) => ({ ...one, id: String(one.id) }));
      return changedResult({ changed, failed: named }, item, unlinked('security rules', 'security rule', id));
    },
  };
}

function linked(kind: string, role: number): ListMessages {
  return {
    all: `All ${kind} were linked to role ${role}`,
    some: `Some ${kind} were not linked to role ${role}`,
    none: `No link was created to role ${role}`,
  };
}

function unlinked(kind: string, one: string, role: number): ListMessages {
  return {
    all: `All ${kind} were unlinked from role ${role}`,
    some: `Some ${kind} were not unlinked from role ${role}`,
    none: `No ${one} was unlinked from role ${role}`,
  };
}
