import type { OperationId } from '../contract/operations.js';
import type { OperationHandler, OperationHandlers } from '../http/api-request.js';
import type { ManagerConfiguration } from '../manager/manager-configuration.js';
import { requireNode } from '../manager/node-scope.js';

/** Operations on one node, and the operation on the manager that does the same (rest-api.md 6.15). */
const TWINS = [
  ['getClusterNodeIdStatus', 'getManagerStatus'],
  ['getClusterNodeIdInfo', 'getManagerInfo'],
  ['getClusterNodeIdConfiguration', 'getManagerConfiguration'],
  ['putClusterNodeIdConfiguration', 'putManagerConfiguration'],
  ['getClusterNodeIdConfigurationComponentConfiguration', 'getManagerConfigurationComponentConfiguration'],
  ['getClusterNodeIdConfigurationDifferences', 'getManagerConfigurationDifferences'],
  ['getClusterNodeIdDaemonsStats', 'getManagerDaemonsStats'],
  ['getClusterNodeIdStats', 'getManagerStats'],
  ['getClusterNodeIdStatsHourly', 'getManagerStatsHourly'],
  ['getClusterNodeIdStatsWeekly', 'getManagerStatsWeekly'],
  ['getClusterNodeIdStatsAnalysisd', 'getManagerStatsAnalysisd'],
  ['getClusterNodeIdStatsRemoted', 'getManagerStatsRemoted'],
  ['getClusterNodeIdLogs', 'getManagerLogs'],
  ['getClusterNodeIdLogsSummary', 'getManagerLogsSummary'],
] as const satisfies readonly (readonly [twin: OperationId, manager: OperationId])[];

/** A twin takes what its operation on the manager takes, and the name of the node; a test holds the contract to it. */
type TwinHandler = OperationHandler<(typeof TWINS)[number][0]>;

/** What the manager answers, for this node of a cluster; without a cluster 400/3013. */
export function nodeTwinsRoutes(
  configuration: ManagerConfiguration,
  tables: readonly OperationHandlers[],
): OperationHandlers {
  const handlers: OperationHandlers = Object.assign({}, ...tables);
  return Object.fromEntries(
    TWINS.map(([twin, manager]): [string, TwinHandler] => {
      const handler = handlers[manager] as TwinHandler | undefined;
      if (handler === undefined) throw new Error(`${twin} has no ${manager}`);
      return [
        twin,
        (request) => {
          requireNode(configuration, request.parameters.node_id);
          return handler(request);
        },
      ];
    }),
  );
}
