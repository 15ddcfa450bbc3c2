import type { AccessControl } from '../auth/access-control.js';
import { contextHash } from '../auth/context-hash.js';
import type { TokenSubject } from '../auth/token-service.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, dataResult, messageResult, rawResult } from '../http/envelope.js';
import type { ContextRoles } from '../rbac/context-roles.js';

export type LoginRouteParts = Pick<AccessControl, 'store' | 'decisions' | 'tokens' | 'settings'> & {
  readonly contextRoles: ContextRoles;
};

/** Login with name and password, with or without an authorization context, and logout (rest-api.md 2.1, 2.4). */
export function loginRoutes(parts: LoginRouteParts): OperationHandlers {
  const { store, decisions, tokens, settings, contextRoles } = parts;
  const answer = (subject: TokenSubject, raw: boolean | undefined): ApiResult => {
    const token = tokens.issue(subject, settings.current());
    return raw === true ? rawResult('text/plain', token) : dataResult({ token });
  };
  const login = (request: ApiRequest<'getSecurityUserAuthenticate' | 'postSecurityUserAuthenticate'>): ApiResult => {
    const { name, roles } = request.loginUser;
    return answer({ name, roles, revision: store.revision }, request.parameters.raw);
  };
  return {
    postSecurityUserAuthenticate: login,
    getSecurityUserAuthenticate: login,

    postSecurityUserAuthenticateRunAs: ({ loginUser, parameters, body }) => {
      const { id, name, allowRunAs } = loginUser;
      if (!allowRunAs) throw new ApiError(6004);
      // An empty context chooses nothing: the user's own roles apply.
      const roles = Object.keys(body).length === 0 ? loginUser.roles : contextRoles.of(id, body);
      const subject = { name, roles, contextHash: contextHash(body), revision: store.revision };
      return answer(subject, parameters.raw);
    },

    deleteSecurityUserAuthenticate: async ({ caller: { user } }) => {
      await decisions.change(() => ({ revoked: [`user:${user.id}`], result: undefined }));
      return messageResult(`User ${user.name} was successfully logged out`);
    },
  };
}
