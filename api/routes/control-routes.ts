import type { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import { checkDaemons, type CheckReport, problemTexts } from '../../lib/control/check-daemons.js';
import { callSupervisor, NoSupervisorError } from '../../lib/control/control-client.js';
import { type DaemonCatalogue, startOrder } from '../../lib/control/daemon-catalogue.js';
import { wantedDaemons } from '../../lib/control/wanted-daemons.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { DaemonClient } from '../daemons/daemon-client.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest, OperationHandlers } from '../http/api-request.js';
import { type ApiResult, listResult } from '../http/envelope.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import { type ChosenNodes, chosenNodes, nodeId, THIS_NODE } from '../manager/node-scope.js';

/** How long the supervisor may take to say that it is there. */
const PING_DEADLINE_MS = 1500;

export type ControlRouteParts = {
  readonly home: Home;
  readonly configuration: ManagerConfiguration;
  readonly analysisd: DaemonClient<typeof analysisdContract>;
  readonly catalogue: DaemonCatalogue;
  readonly logger: Logger;
};

/** Reload of the ruleset, restart of the suite and check of its configuration (rest-api.md 6.4), and the same for nodes (6.15). */
export function controlRoutes(parts: ControlRouteParts): OperationHandlers {
  const { configuration } = parts;
  const check = sharedCheck(parts);

  return {
    putManagerAnalysisdReload: (request) => reloadRuleset(parts, request, THIS_NODE),
    putClusterAnalysisdReload: (request) =>
      reloadRuleset(parts, request, chosenNodes(configuration, request.permitted.nodes)),

    getManagerConfigurationValidation: () => validate(configuration, check, THIS_NODE),
    getClusterConfigurationValidation: ({ permitted }) =>
      validate(configuration, check, chosenNodes(configuration, permitted.nodes)),

    putManagerRestart: () => acceptRestart(parts, check, THIS_NODE),
    putClusterRestart: ({ permitted }) => acceptRestart(parts, check, chosenNodes(configuration, permitted.nodes)),
  };
}

function everywhere(configuration: ManagerConfiguration): string {
  return configuration.node().clusterEnabled ? 'all specified nodes' : '';
}

async function reloadRuleset(
  { configuration, analysisd }: ControlRouteParts,
  request: ApiRequest,
  { here, failed }: ChosenNodes,
): Promise<ApiResult> {
  const name = nodeId(configuration);
  const messages = {
    all: `Reload request sent to ${everywhere(configuration)}`,
    some: 'Could not send reload request to some specified nodes',
    none: 'Could not send reload request to any node',
  };
  if (!here) return listResult({ items: [], total: 0, failed, messages });
  const answer = await analysisd.call(request, 'ruleset.reload', {});
  if (answer.error === 1) {
    const error = new ApiError(1914, { extra: answer.data.join(', ') });
    return listResult({ items: [], total: 0, failed: [...failed, { id: name, error }], messages });
  }
  const msg = answer.data.length > 0 ? answer.data.join(', ') : 'Ruleset reload request sent successfully.';
  return listResult({ items: [{ name, msg }], total: 1, failed, messages });
}

async function validate(
  configuration: ManagerConfiguration,
  check: () => Promise<CheckReport>,
  { here, failed }: ChosenNodes,
): Promise<ApiResult> {
  const name = nodeId(configuration);
  const { clusterEnabled } = configuration.node();
  const messages = {
    all: `Validation was successfully checked${clusterEnabled ? ' in all nodes' : ''}`,
    some: 'Could not check validation in some nodes',
    none: `Could not check validation${clusterEnabled ? ' in any node' : ''}`,
  };
  if (!here) return listResult({ items: [], total: 0, failed, messages });
  const { failures } = await check();
  if (failures.length === 0) return listResult({ items: [{ name, status: 'OK' }], total: 1, failed, messages });
  const error = new ApiError(1908, { extra: problemTexts(failures).join(', ') });
  return listResult({ items: [], total: 0, failed: [...failed, { id: name, error }], messages });
}

async function acceptRestart(
  parts: ControlRouteParts,
  check: () => Promise<CheckReport>,
  { here, failed }: ChosenNodes,
): Promise<ApiResult> {
  const { home, configuration } = parts;
  const messages = {
    all: `Restart request sent to ${everywhere(configuration)}`,
    some: 'Could not send restart request to some specified nodes',
    none: 'Could not send restart request to any node',
  };
  if (!here) return listResult({ items: [], total: 0, failed, messages, status: 202 });
  try {
    await callSupervisor(home, { command: 'ping' }, undefined, PING_DEADLINE_MS);
  } catch (error) {
    if (error instanceof NoSupervisorError) throw new ApiError(1901, { extra: error.message });
    throw new ApiError(1902, { extra: describeError(error) });
  }
  // Answered before it begins: the API is one of the daemons that stop.
  setImmediate(() => void restart(parts, check));
  return listResult({ items: [nodeId(configuration)], total: 1, failed, messages, status: 202 });
}

/**
 * A check takes as much processor time as loading the ruleset, so there is one at a time. Who asks during one waits for the next, with all
 * others that do: the files may have changed since it began.
 */
function sharedCheck({ home, catalogue }: ControlRouteParts): () => Promise<CheckReport> {
  let running: Promise<CheckReport> | undefined;
  let waiting: Promise<CheckReport> | undefined;
  const run = () => {
    const daemons = [...wantedDaemons(home, catalogue, startOrder('server'))];
    running = checkDaemons(home, catalogue, daemons, 'all').finally(() => (running = undefined));
    return running;
  };
  return () => {
    if (running === undefined) return run();
    waiting ??= running
      .catch(() => {})
      .then(() => {
        waiting = undefined;
        return run();
      });
    return waiting;
  };
}

/** As `svc-control restart`: nothing is stopped when the configuration is bad (product.md 10). */
async function restart({ home, logger }: ControlRouteParts, check: () => Promise<CheckReport>): Promise<void> {
  try {
    const { failures } = await check();
    if (failures.length > 0) {
      logger.error(`Restart refused, the configuration is not valid: ${problemTexts(failures).join(', ')}`);
      return;
    }
    await callSupervisor(home, { command: 'restart' });
  } catch (error) {
    logger.error(`The restart failed: ${describeError(error)}`);
  }
}
