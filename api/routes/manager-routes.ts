import type { monitordContract } from '../../lib/bus/contracts/monitord.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { ConfigError } from '../../lib/config/config-error.js';
import { readConfigurationFile } from '../../lib/config/configuration-file.js';
import { ConfigurationViewError, renderConfiguration } from '../../lib/config/render-configuration.js';
import { renderRawConfiguration } from '../../lib/config/render-raw-configuration.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { managerInfo } from '../../lib/manager/manager-info.js';
import { requireConfiguration } from '../agents/agent-components.js';
import type { ApiSettings } from '../api-settings.js';
import type { ManagerDaemons } from '../daemons/manager-daemons.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { dataResult, type ListMessages, listResult, rawResult, type WholeResult } from '../http/envelope.js';
import type { PreparedAnswers } from '../http/prepared-answers.js';
import { pageOf } from '../lists/list-parameters.js';
import { configurationDifferences } from '../manager/configuration-differences.js';
import { DaemonStates } from '../manager/daemon-states.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import { type ChosenNodes, chosenNodes, nodeId, nodeMessages, THIS_NODE } from '../manager/node-scope.js';

export type ManagerRouteParts = {
  readonly home: Home;
  readonly configuration: ManagerConfiguration;
  readonly monitord: RequestClient<typeof monitordContract>;
  readonly manager: ManagerDaemons;
  /** Effective api.yaml. */
  readonly apiConfig: () => object;
  readonly settings: () => Pick<ApiSettings, 'daemonNames'>;
  readonly prepared: PreparedAnswers;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
};

/** State, identity, and configuration of the manager (rest-api.md 6.4). Only the active configuration needs other daemons. */
export function managerRoutes(parts: ManagerRouteParts): OperationHandlers {
  const { configuration } = parts;
  const states = new DaemonStates(parts);
  /** One item about this node; with a cluster the messages name the node. */
  const nodeResult = (item: unknown, all: string, some: string, none: string): WholeResult =>
    listResult({ items: [item], total: 1, messages: nodeMessages(configuration, all, some, none) });

  return {
    getManagerStatus: async (request) => {
      const shown = await states.current();
      return parts.prepared.of(shown, request, () =>
        nodeResult(
          shown,
          'Processes status was successfully read',
          'Could not read basic information in some nodes',
          'Could not read processes status',
        ),
      );
    },

    getManagerInfo: () =>
      nodeResult(
        managerInfo(parts.home, parts.now()),
        'Basic information was successfully read',
        'Could not read basic information in some nodes',
        'Could not read basic information',
      ),

    getManagerConfiguration: (request) => managerConfiguration(parts, request),

    getManagerConfigurationComponentConfiguration: (request) => activeConfiguration(parts, request),

    getManagerConfigurationDifferences: (request) => differences(parts, request),

    getManagerApiConfig: () => apiConfiguration(parts, THIS_NODE),
    getManagerVersionCheck: () => {
      const { uuid, version } = managerInfo(parts.home, parts.now());
      // This manager never asks anybody for newer versions.
      return dataResult({
        uuid,
        last_check_date: '',
        current_version: version,
        update_check: false,
        last_available_major: {},
        last_available_minor: {},
        last_available_patch: {},
      });
    },
    getClusterApiConfig: ({ permitted }) => apiConfiguration(parts, chosenNodes(configuration, permitted.nodes)),
  };
}

function apiConfiguration({ configuration, apiConfig }: ManagerRouteParts, { here, failed }: ChosenNodes): WholeResult {
  const { clusterEnabled } = configuration.node();
  const messages: ListMessages = {
    all: `API configuration was successfully read${clusterEnabled ? ' in all specified nodes' : ''}`,
    some: 'Not all API configurations could be read',
    none: `Could not read API configuration${clusterEnabled ? ' in any node' : ''}`,
  };
  const items = here ? [{ node_name: nodeId(configuration), node_api_config: apiConfig() }] : [];
  return listResult({ items, total: items.length, failed, messages });
}

/** Read from the file, so that a manager that does not start can still be asked why. */
function managerConfiguration(
  parts: ManagerRouteParts,
  { permitted: { secrets }, parameters }: ApiRequest<'getManagerConfiguration'>,
): WholeResult {
  const { configuration, home, logger } = parts;
  const messages = nodeMessages(
    configuration,
    'Configuration was successfully read',
    'Could not read configuration in some nodes',
    'Could not read configuration',
  );
  try {
    const file = readConfigurationFile(home);
    if (parameters.raw) {
      return rawResult('application/xml; charset=utf-8', renderRawConfiguration(file.text, secrets));
    }
    const view = {
      section: parameters.section,
      field: parameters.field,
      distinct: parameters.distinct,
      secrets,
    };
    const item = renderConfiguration(file.text, file.name, view, (text) => logger.warn(text));
    return listResult({ items: [item], total: 1, messages });
  } catch (error) {
    const failed = [{ id: nodeId(configuration), error: configurationError(error) }];
    return listResult({ items: [], total: 0, failed, messages });
  }
}

/** Read from the files, like the configuration itself. */
function differences(
  { configuration, home, apiConfig }: ManagerRouteParts,
  { permitted: { secrets }, parameters }: ApiRequest<'getManagerConfigurationDifferences'>,
): WholeResult {
  const messages = nodeMessages(
    configuration,
    'Differences were successfully read',
    'Could not read differences in some nodes',
    'Could not read differences',
  );
  try {
    const found = configurationDifferences(home, apiConfig(), secrets);
    const page = pageOf(found, parameters, { defaultSort: 'source,option', sortFields: ['source', 'option'] });
    return listResult({ ...page, messages: { ...messages, none: messages.all } });
  } catch (error) {
    const failed = [{ id: nodeId(configuration), error: configurationError(error) }];
    return listResult({ items: [], total: 0, failed, messages });
  }
}

/** As the daemons have it in force. */
async function activeConfiguration(
  { configuration, manager }: ManagerRouteParts,
  { parameters, signal }: ApiRequest<'getManagerConfigurationComponentConfiguration'>,
): Promise<WholeResult> {
  const { component, configuration: name } = parameters;
  requireConfiguration(component, name);
  const messages = nodeMessages(
    configuration,
    'Active configuration was successfully read',
    'Could not read active configuration in some nodes',
    'Could not read active configuration',
  );
  try {
    const item = await manager.configuration(component, name, signal);
    return listResult({ items: [item], total: 1, messages });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return listResult({ items: [], total: 0, failed: [{ id: nodeId(configuration), error }], messages });
  }
}

function configurationError(error: unknown): ApiError {
  if (error instanceof ConfigError) return new ApiError(1101, { extra: error.text });
  if (!(error instanceof ConfigurationViewError)) throw error;
  const text = new ApiError(error.code).message;
  const extra = error.message.startsWith(`${text}: `) ? error.message.slice(text.length + 2) : undefined;
  return new ApiError(error.code, extra === undefined ? {} : { extra });
}
