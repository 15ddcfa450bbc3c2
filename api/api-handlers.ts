import type { analysisdContract } from '../lib/bus/contracts/analysisd.js';
import type { authdContract } from '../lib/bus/contracts/authd.js';
import type { dbContract } from '../lib/bus/contracts/db.js';
import type { execdContract } from '../lib/bus/contracts/execd.js';
import type { modulesdContract } from '../lib/bus/contracts/modulesd.js';
import type { monitordContract } from '../lib/bus/contracts/monitord.js';
import type { remotedContract } from '../lib/bus/contracts/remoted.js';
import type { RequestClient } from '../lib/bus/request-client.js';
import type { ClusterdClient } from '../lib/cluster/shared-records.js';
import type { DaemonCatalogue } from '../lib/control/daemon-catalogue.js';
import { GroupFolders } from '../lib/groups/group-folders.js';
import type { Home } from '../lib/home/home.js';
import type { Logger } from '../lib/log/logger.js';
import { GroupSums } from './agents/group-sums.js';
import type { NewAlerts } from './alerts/new-alerts.js';
import type { ApiOptions } from './api.js';
import type { ApiSettings } from './api-settings.js';
import { ClusterMembers } from './cluster/cluster-members.js';
import { ClusterSpreader } from './cluster/cluster-spreader.js';
import { NodeCalls } from './cluster/node-calls.js';
import { AuthdClient } from './daemons/authd-client.js';
import { DaemonClient } from './daemons/daemon-client.js';
import { DbClient } from './daemons/db-client.js';
import { ManagerDaemons } from './daemons/manager-daemons.js';
import { ModulesdClient } from './daemons/modulesd-client.js';
import { RemotedClient } from './daemons/remoted-client.js';
import { GroupDirectory } from './groups/group-directory.js';
import type { OperationHandlers } from './http/api-request.js';
import { PreparedAnswers } from './http/prepared-answers.js';
import { ManagerConfiguration } from './manager/manager-configuration.js';
import { AttackCatalogue } from './mitre/attack-catalogue.js';
import { activeResponseRoutes } from './routes/active-response-routes.js';
import { agentGroupsRoutes } from './routes/agent-groups-routes.js';
import { agentsCommandRoutes } from './routes/agents-command-routes.js';
import { agentsDeleteRoutes } from './routes/agents-delete-routes.js';
import { agentsGroupRoutes } from './routes/agents-group-routes.js';
import { agentsKeysRoutes } from './routes/agents-keys-routes.js';
import { agentsRequestRoutes } from './routes/agents-request-routes.js';
import { agentsRoutes } from './routes/agents-routes.js';
import { agentsStatisticsRoutes } from './routes/agents-statistics-routes.js';
import { agentsSummaryRoutes } from './routes/agents-summary-routes.js';
import { agentsUpgradeRoutes } from './routes/agents-upgrade-routes.js';
import { type AlertsRouteParts, alertsRoutes } from './routes/alerts-routes.js';
import { type AlertsStreamRouteParts, alertsStreamRoutes } from './routes/alerts-stream-routes.js';
import { ciscatRoutes } from './routes/ciscat-routes.js';
import { clusterRoutes } from './routes/cluster-routes.js';
import { controlRoutes } from './routes/control-routes.js';
import { decodersRoutes } from './routes/decoders-routes.js';
import { type ApiEventOutlet, eventsRoutes } from './routes/events-routes.js';
import { groupsConfigurationRoutes } from './routes/groups-configuration-routes.js';
import { groupsFilesRoutes } from './routes/groups-files-routes.js';
import { groupsRoutes } from './routes/groups-routes.js';
import { listsRoutes } from './routes/lists-routes.js';
import { logtestRoutes } from './routes/logtest-routes.js';
import { managerLogsRoutes } from './routes/manager-logs-routes.js';
import { managerRoutes } from './routes/manager-routes.js';
import { managerUploadRoutes } from './routes/manager-upload-routes.js';
import { missingOperation } from './routes/missing-operation.js';
import { mitreRoutes } from './routes/mitre-routes.js';
import { nodeTwinsRoutes } from './routes/node-twins-routes.js';
import { rootcheckRoutes } from './routes/rootcheck-routes.js';
import { rulesRoutes } from './routes/rules-routes.js';
import { rulesTestsRoutes } from './routes/rules-tests-routes.js';
import { scaRoutes } from './routes/sca-routes.js';
import { statisticsRoutes } from './routes/statistics-routes.js';
import { syscheckRoutes } from './routes/syscheck-routes.js';
import { syscollectorRoutes } from './routes/syscollector-routes.js';
import { tasksRoutes } from './routes/tasks-routes.js';
import { ListDirectory } from './ruleset/list-directory.js';
import { RulesetCatalogue } from './ruleset/ruleset-catalogue.js';
import { RulesetListing } from './ruleset/ruleset-listing.js';
import { RulesetUploads } from './ruleset/ruleset-uploads.js';
import { RulesetTests } from './ruleset/tests/ruleset-tests.js';

/** What the operations of this version ask for their answers. */
export type ApiHandlerParts = {
  readonly home: Home;
  readonly logger: Logger;
  readonly monitord: RequestClient<typeof monitordContract>;
  readonly analysisd: RequestClient<typeof analysisdContract>;
  readonly db: RequestClient<typeof dbContract>;
  /** Tells of new alerts. */
  readonly news: NewAlerts;
  readonly authd: RequestClient<typeof authdContract>;
  readonly remoted: RequestClient<typeof remotedContract>;
  readonly modulesd: RequestClient<typeof modulesdContract>;
  readonly execd: RequestClient<typeof execdContract>;
  readonly clusterd: ClusterdClient;
  readonly outlet: ApiEventOutlet;
  /** Programs of the daemons, to check a configuration with. */
  readonly catalogue: DaemonCatalogue;
  /** Effective api.yaml. */
  readonly apiConfig: () => object;
  /** What of it is in force. */
  readonly settings: () => Pick<ApiSettings, 'daemonNames' | 'requestTimeoutMs'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
};

/** Every operation of this version besides `GET /` and the logins, what refuses the others, and who this manager is. */
export function apiHandlers(parts: ApiHandlerParts): Pick<ApiOptions, 'handlers' | 'missing' | 'node' | 'spreader'> {
  const { home } = parts;
  const configuration = new ManagerConfiguration(home);
  const node = () => configuration.node().name;
  const ruleset = new RulesetListing(home, parts.monotonic);
  const files = new RulesetCatalogue({ ruleset, configuration, logger: parts.logger });
  const prepared = new PreparedAnswers();
  const lists = new ListDirectory(home);

  const analysisd = new DaemonClient({ home, node, daemon: 'svc-analysisd', client: parts.analysisd });
  const uploads = new RulesetUploads({ ...parts, analysisd, changed: () => ruleset.changed() });
  uploads.recover();
  const db = new DbClient(new DaemonClient({ home, node, daemon: 'svc-db', client: parts.db }));
  const folders = new GroupFolders(home);
  const groups = new GroupDirectory(db, folders, () => configuration.node().clusterEnabled);
  const sums = new GroupSums(home);
  const calls = new DaemonClient({ home, node, daemon: 'svc-authd', client: parts.authd });
  const authd = new AuthdClient({ ...parts, calls });
  const remoted = new RemotedClient(new DaemonClient({ home, node, daemon: 'svc-remoted', client: parts.remoted }));
  const modulesd = new ModulesdClient(new DaemonClient({ home, node, daemon: 'svc-modulesd', client: parts.modulesd }));
  const manager = new ManagerDaemons(home, node, parts.catalogue);
  const members = new ClusterMembers(parts.clusterd, () => configuration.node());
  const scans = { db, remoted, manager };
  const changes = { home, configuration, uploads };
  const aboutManager = [
    managerRoutes({ ...parts, configuration, manager, prepared, now: () => new Date(parts.now()) }),
    managerLogsRoutes({ ...parts, configuration }),
    managerUploadRoutes(home, configuration),
    statisticsRoutes({ ...parts, configuration, now: () => new Date(parts.now()) }),
  ];
  return {
    node: () => configuration.node(),
    spreader: new ClusterSpreader({ members, db, calls: new NodeCalls(parts.clusterd, node), now: parts.now }),
    missing: missingOperation(db),
    handlers: [
      ...aboutManager,
      nodeTwinsRoutes(configuration, aboutManager),
      clusterRoutes({ home, configuration, members, db }),
      controlRoutes({ ...parts, configuration, analysisd }),
      rulesRoutes(files, changes, prepared),
      rulesTestsRoutes({ home, uploads, tests: new RulesetTests() }),
      decodersRoutes(files, changes, prepared),
      listsRoutes(lists, home, uploads),
      mitreRoutes(new AttackCatalogue()),
      logtestRoutes(analysisd),
      eventsRoutes({ ...parts, node }),
      agentsRoutes(db, sums),
      agentsSummaryRoutes(db, groups, sums),
      agentsKeysRoutes(db, authd),
      agentsDeleteRoutes(db, authd),
      agentsGroupRoutes(db, groups),
      agentGroupsRoutes(db, groups),
      groupsRoutes({ groups, db, sums }),
      groupsConfigurationRoutes(folders, parts.logger),
      groupsFilesRoutes(folders),
      activeResponseRoutes({ home, node, db, remoted }),
      agentsCommandRoutes({ node, configuration, db, groups, remoted }),
      agentsRequestRoutes({ db, remoted, manager }),
      agentsStatisticsRoutes({ ...parts, db }),
      agentsUpgradeRoutes({ db, modulesd }),
      tasksRoutes(modulesd),
      syscheckRoutes(scans),
      rootcheckRoutes(scans),
      scaRoutes(db),
      syscollectorRoutes(db),
      ciscatRoutes(db),
      ...alertHandlers({ ...parts, db, node: () => configuration.node() }),
    ],
  };
}

function alertHandlers(parts: AlertsRouteParts & AlertsStreamRouteParts): OperationHandlers[] {
  return [alertsRoutes(parts), alertsStreamRoutes(parts)];
}
