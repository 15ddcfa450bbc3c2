import type { AccessControl } from '../auth/access-control.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, dataResult, messageResult, rawResult } from '../http/envelope.js';

/** Login with name and password, and logout (rest-api.md 2.1, 2.4). */
export function loginRoutes({ store, tokens, settings }: AccessControl): OperationHandlers {
  const login = (request: ApiRequest<'getSecurityUserAuthenticate' | 'postSecurityUserAuthenticate'>): ApiResult => {
    const user = request.loginUser;
    const subject = { name: user.name, roles: user.roles, runAs: false, revision: store.revision };
    const token = tokens.issue(subject, settings.current());
    return request.parameters.raw ? rawResult('text/plain', token) : dataResult({ token });
  };
  return {
    postSecurityUserAuthenticate: login,
    getSecurityUserAuthenticate: login,
    deleteSecurityUserAuthenticate: async (request) => {
      const { user } = request.caller;
      await store.revoke([`user:${user.id}`]);
      return messageResult(`User ${user.name} was successfully logged out`);
    },
  };
}
