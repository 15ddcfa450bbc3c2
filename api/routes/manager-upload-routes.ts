import { callSupervisor, NoSupervisorError } from '../../lib/control/control-client.js';
import { ConfigurationRefusedError } from '../../lib/control/replace-configuration.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import { ApiError } from '../http/api-error.js';
import type { OperationHandlers } from '../http/api-request.js';
import { isErrorCode } from '../http/error-catalogue.js';
import { uploadedText } from '../http/uploaded-text.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import { nodeId, nodeMessages } from '../manager/node-scope.js';
import { outcome } from './ruleset-upload-routes.js';

/** How long the supervisor may take, all checks included; the request time-out of the API ends the wait before. */
const DEADLINE_MS = 120_000;

/**
 * Replaces the main configuration (rest-api.md 6.4; daemons-and-config.md 1.5). What it says root does, so it is the
 * supervisor who reads, judges and writes it.
 */
export function managerUploadRoutes(home: Home, configuration: ManagerConfiguration): OperationHandlers {
  return {
    putManagerConfiguration: (request) => {
      const text = uploadedText(request.body);
      const messages = nodeMessages(
        configuration,
        'Configuration was successfully updated',
        'Could not update configuration in some nodes',
        'Could not update configuration',
      );
      return outcome(nodeId(configuration), messages, async () => {
        try {
          await callSupervisor(home, { command: 'configure', text }, undefined, DEADLINE_MS);
        } catch (error) {
          throw refusal(error);
        }
      });
    },
  };
}

function refusal(error: unknown): ApiError {
  if (error instanceof ConfigurationRefusedError && isErrorCode(error.code)) {
    return new ApiError(error.code, error.message === '' ? {} : { extra: error.message });
  }
  const extra = error instanceof NoSupervisorError ? error.message : describeError(error);
  return new ApiError(1126, { extra });
}
