import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import type { ListMessages } from '../http/envelope.js';
import { chosenIds } from '../rbac/chosen-ids.js';
import { objectId } from '../rbac/object-id.js';
import type { RbacStore } from '../rbac/rbac-store.js';
import { userItem } from '../rbac/security-items.js';
import type { UserAdministration } from '../rbac/user-administration.js';
import { changedResult, changeOne, deletedResult, securityList } from './security-answers.js';

/** Users (rest-api.md 6.9). */
export function securityUsersRoutes(store: RbacStore, administration: UserAdministration): OperationHandlers {
  return {
    getSecurityUsers: ({ permitted, parameters }) =>
      securityList(parameters, {
        chosen: chosenIds(permitted.users, store.users.all()),
        find: (id) => store.users.get(id),
        item: userItem,
        unknown: 5001,
        sortFields: ['id', 'username'],
        messages: {
          all: 'All specified users were returned',
          some: 'Some users were not returned',
          none: 'No user was returned',
        },
      }),

    postSecurityUsers: async ({ caller, body, signal }) => {
      const { username, password } = body;
      const result = await changeOne(username, () => administration.create(username, password, caller.user.id, signal));
      const messages = { all: 'User was successfully created', some: '-', none: 'User could not be created' };
      return changedResult(result, userItem, messages);
    },

    putSecurityUsersUserId: async ({ caller, parameters, body, signal }) => {
      const id = Number(parameters.user_id);
      const { password } = body;
      if (password === undefined) throw new ApiError(4001);
      const result = await changeOne(id, () => administration.setPassword(id, password, caller.user.id, signal));
      const messages = { all: 'User was successfully updated', some: '-', none: 'User could not be updated' };
      return changedResult(result, userItem, messages);
    },

    putSecurityUsersUserIdRunAs: async ({ parameters }) => {
      const id = objectId(parameters.user_id);
      const { allow_run_as: allowRunAs } = parameters;
      const state = allowRunAs ? 'enabled' : 'disabled';
      const result = await changeOne(id, () => administration.setRunAs(id, allowRunAs));
      return changedResult(result, userItem, {
        all: `Parameter allow_run_as has been ${state} for the user`,
        some: '-',
        none: `The parameter allow_run_as could not be ${state} for the user`,
      });
    },

    deleteSecurityUsers: ({ caller, permitted }) =>
      deletedResult(
        chosenIds(permitted.users, store.users.all()),
        (ids) => administration.remove(ids, caller.user.id),
        userItem,
        {
          all: 'Users were successfully deleted',
          some: 'Some users were not deleted',
          none: 'No user was deleted',
        },
      ),
  };
}

/** Roles of users (rest-api.md 6.9). */
export function securityUserRolesRoutes(store: RbacStore, administration: UserAdministration): OperationHandlers {
  return {
    postSecurityUsersUserIdRoles: async ({ permitted, parameters }) => {
      const id = Number(parameters.user_id);
      const roles = chosenIds(permitted.roles, []);
      const result = await administration.link(id, roles.ids, parameters.position);
      return changedResult(
        result,
        userItem,
        linkMessages(store, id, 'were linked to', 'No link was created to'),
        roles.failed,
      );
    },

    deleteSecurityUsersUserIdRoles: async ({ permitted, parameters }) => {
      const id = Number(parameters.user_id);
      const user = store.users.get(id);
      const roles = chosenIds(permitted.roles, store.roles.some(user?.roles ?? []));
      const result = await administration.unlink(id, roles.ids);
      const messages = linkMessages(store, id, 'were unlinked from', 'No role was unlinked from');
      return changedResult(result, userItem, messages, roles.failed);
    },
  };
}

/** A user is called by name; one that does not exist, by its id. */
function linkMessages(store: RbacStore, id: number, done: string, none: string): ListMessages {
  const name = store.users.get(id)?.name ?? id;
  return {
    all: `All roles ${done} user ${name}`,
    some: `Some roles ${done.replace('were', 'were not')} user ${name}`,
    none: `${none} user ${name}`,
  };
}
