import type { OperationId } from '../contract/operations.js';
import type { OperationHandler, OperationHandlers } from '../http/api-request.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import { requireNode } from '../manager/node-scope.js';

/** Operations on one node, the operation on the manager that does the same, and the action they need (rest-api.md 6.15). */
const TWINS = [
  ['getClusterNodeIdStatus', 'getManagerStatus', 'read'],
  ['getClusterNodeIdInfo', 'getManagerInfo', 'read'],
  ['getClusterNodeIdConfiguration', 'getManagerConfiguration', 'read'],
  ['putClusterNodeIdConfiguration', 'putManagerConfiguration', 'update_config'],
  ['getClusterNodeIdConfigurationComponentConfiguration', 'getManagerConfigurationComponentConfiguration', 'read'],
  ['getClusterNodeIdDaemonsStats', 'getManagerDaemonsStats', 'read'],
  ['getClusterNodeIdStats', 'getManagerStats', 'read'],
  ['getClusterNodeIdStatsHourly', 'getManagerStatsHourly', 'read'],
  ['getClusterNodeIdStatsWeekly', 'getManagerStatsWeekly', 'read'],
  ['getClusterNodeIdStatsAnalysisd', 'getManagerStatsAnalysisd', 'read'],
  ['getClusterNodeIdStatsRemoted', 'getManagerStatsRemoted', 'read'],
  ['getClusterNodeIdLogs', 'getManagerLogs', 'read'],
  ['getClusterNodeIdLogsSummary', 'getManagerLogsSummary', 'read'],
] as const satisfies readonly (readonly [twin: OperationId, manager: OperationId, action: string])[];

/** A twin takes what its operation on the manager takes, and the name of the node; a test holds the contract to it. */
type TwinHandler = OperationHandler<(typeof TWINS)[number][0]>;

/** What the manager answers, for this node of a cluster; without a cluster 400/3013. */
export function nodeTwinsRoutes(
  configuration: ManagerConfiguration,
  tables: readonly OperationHandlers[],
): OperationHandlers {
  const handlers: OperationHandlers = Object.assign({}, ...tables);
  return Object.fromEntries(
    TWINS.map(([twin, manager, action]): [string, TwinHandler] => {
      const handler = handlers[manager] as TwinHandler | undefined;
      if (handler === undefined) throw new Error(`${twin} has no ${manager}`);
      return [
        twin,
        (request) => {
          requireNode(request.caller, configuration, request.parameters.node_id, action);
          return handler(request);
        },
      ];
    }),
  );
}
