import { makeTokenKeyPair } from '../../lib/security/token-keys.js';
import { type SecurityChange, type SecuritySettings, SettingsNotWrittenError } from '../auth/security-settings.js';
import type { OperationHandlers } from '../http/api-request.js';
import { type ApiResult, dataResult, messageResult } from '../http/envelope.js';
import type { AccessDecisions } from '../rbac/access-decisions.js';

/** Settings of tokens and permissions, and the end of all tokens (rest-api.md 2.4, 6.9). */
export function securityConfigRoutes(
  settings: Pick<SecuritySettings, 'current'>,
  decisions: AccessDecisions,
): OperationHandlers {
  const replace = async (change: SecurityChange): Promise<ApiResult> => {
    const tokenKeys = await makeTokenKeyPair();
    try {
      await decisions.change(() => ({ settings: change, tokenKeys, result: undefined }));
    } catch (error) {
      if (!(error instanceof SettingsNotWrittenError)) throw error;
      return messageResult(`Configuration could not be updated. Error: ${error.message}`);
    }
    return messageResult('Configuration was successfully updated');
  };
  return {
    getSecurityConfig: () => {
      const { tokenLifetimeSeconds, rbacMode } = settings.current();
      return dataResult({ auth_token_exp_timeout: tokenLifetimeSeconds, rbac_mode: rbacMode });
    },

    putSecurityConfig: ({ body }) =>
      replace({ tokenLifetimeSeconds: body.auth_token_exp_timeout, rbacMode: body.rbac_mode }),

    deleteSecurityConfig: () => replace({}),

    putSecurityUserRevoke: async () => {
      const tokenKeys = await makeTokenKeyPair();
      await decisions.change(() => ({ tokenKeys, result: undefined }));
      return messageResult('Tokens were successfully revoked');
    },
  };
}
