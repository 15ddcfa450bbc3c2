import type { SecuritySettings } from '../auth/security-settings.js';
import type { SigningKeys } from '../auth/signing-keys.js';
import type { OperationHandlers } from '../http/api-request.js';
import { type ApiResult, dataResult, messageResult } from '../http/envelope.js';

/** Settings of tokens and permissions, and the end of all tokens (rest-api.md 2.4, 6.9). */
export function securityConfigRoutes(settings: SecuritySettings, keys: SigningKeys): OperationHandlers {
  const replace = async (change: () => void): Promise<ApiResult> => {
    try {
      change();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return messageResult(`Configuration could not be updated. Error: ${reason}`);
    }
    await keys.renew();
    return messageResult('Configuration was successfully updated');
  };
  return {
    getSecurityConfig: () => {
      const { tokenLifetimeSeconds, rbacMode } = settings.current();
      return dataResult({ auth_token_exp_timeout: tokenLifetimeSeconds, rbac_mode: rbacMode });
    },

    putSecurityConfig: ({ body }) =>
      replace(() => {
        settings.replace({ tokenLifetimeSeconds: body.auth_token_exp_timeout, rbacMode: body.rbac_mode });
      }),

    deleteSecurityConfig: () =>
      replace(() => {
        settings.replace({});
      }),

    putSecurityUserRevoke: async () => {
      await keys.renew();
      return messageResult('Tokens were successfully revoked');
    },
  };
}
