import type { analysisdContract } from '../lib/bus/contracts/analysisd.js';
import type { authdContract } from '../lib/bus/contracts/authd.js';
import type { dbContract } from '../lib/bus/contracts/db.js';
import type { monitordContract } from '../lib/bus/contracts/monitord.js';
import type { remotedContract } from '../lib/bus/contracts/remoted.js';
import type { RequestClient } from '../lib/bus/request-client.js';
import type { DaemonCatalogue } from '../lib/control/daemon-catalogue.js';
import { GroupFolders } from '../lib/groups/group-folders.js';
import type { Home } from '../lib/home/home.js';
import type { Logger } from '../lib/log/logger.js';
import { AgentDirectory } from './agents/agent-directory.js';
import { AgentKeys } from './agents/agent-keys.js';
import { AgentOrders } from './agents/agent-orders.js';
import { AgentQuestions } from './agents/agent-questions.js';
import { GroupSums } from './agents/group-sums.js';
import { ManagerQuestions } from './agents/manager-questions.js';
import { GroupDirectory } from './groups/group-directory.js';
import type { Handlers } from './http/api-request.js';
import { ManagerConfiguration } from './manager/manager-configuration.js';
import { agentsCommandRoutes } from './routes/agents-command-routes.js';
import { agentsDeleteRoutes } from './routes/agents-delete-routes.js';
import { agentsGroupRoutes } from './routes/agents-group-routes.js';
import { agentsKeysRoutes } from './routes/agents-keys-routes.js';
import { agentsRequestRoutes } from './routes/agents-request-routes.js';
import { agentsRoutes } from './routes/agents-routes.js';
import { agentsSummaryRoutes } from './routes/agents-summary-routes.js';
import { controlRoutes } from './routes/control-routes.js';
import { decodersRoutes } from './routes/decoders-routes.js';
import { type EventOutlet, eventsRoutes } from './routes/events-routes.js';
import { groupsConfigurationRoutes } from './routes/groups-configuration-routes.js';
import { groupsFilesRoutes } from './routes/groups-files-routes.js';
import { groupsRoutes } from './routes/groups-routes.js';
import { listsRoutes } from './routes/lists-routes.js';
import { logtestRoutes } from './routes/logtest-routes.js';
import { managerRoutes } from './routes/manager-routes.js';
import { managerUploadRoutes } from './routes/manager-upload-routes.js';
import { rootcheckRoutes } from './routes/rootcheck-routes.js';
import { rulesRoutes } from './routes/rules-routes.js';
import { statisticsRoutes } from './routes/statistics-routes.js';
import { syscheckRoutes } from './routes/syscheck-routes.js';
import { ListDirectory } from './ruleset/list-directory.js';
import { RulesetCatalogue } from './ruleset/ruleset-catalogue.js';
import { RulesetDirectory } from './ruleset/ruleset-directory.js';
import { RulesetUploads } from './ruleset/ruleset-uploads.js';

/** What the operations of this version ask for their answers. */
export type HandlerParts = {
  readonly home: Home;
  readonly logger: Logger;
  readonly monitord: RequestClient<typeof monitordContract>;
  readonly analysisd: RequestClient<typeof analysisdContract>;
  readonly db: RequestClient<typeof dbContract>;
  readonly authd: RequestClient<typeof authdContract>;
  readonly remoted: RequestClient<typeof remotedContract>;
  readonly outlet: EventOutlet;
  /** Programs of the daemons, to check a configuration with. */
  readonly catalogue: DaemonCatalogue;
  /** Effective api.yaml. */
  readonly apiConfig: () => object;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
};

/** Every operation of this version besides `GET /` and the logins, and the name of this node. */
export function apiHandlers(parts: HandlerParts): {
  readonly handlers: readonly Handlers[];
  readonly node: () => string;
} {
  const configuration = new ManagerConfiguration(parts.home);
  const node = () => configuration.node().name;
  const ruleset = new RulesetDirectory(parts.home);
  const files = new RulesetCatalogue({ ruleset, configuration, logger: parts.logger });
  const lists = new ListDirectory(parts.home);
  const uploads = new RulesetUploads({ ...parts, node });
  uploads.recover();
  const directory = new AgentDirectory(parts.home, parts.db, node);
  const folders = new GroupFolders(parts.home);
  const groups = new GroupDirectory(directory, folders);
  const sums = new GroupSums(parts.home);
  const keys = new AgentKeys({ ...parts, node });
  const orders = new AgentOrders({ ...parts, node });
  const scans = { home: parts.home, node, directory, orders };
  const questions = new ManagerQuestions(parts.home);
  const changes = { home: parts.home, configuration, uploads };
  return {
    node,
    handlers: [
      managerRoutes({ ...parts, configuration, questions, now: () => new Date(parts.now()) }),
      managerUploadRoutes(parts.home, configuration),
      controlRoutes({ ...parts, configuration, node }),
      statisticsRoutes({ ...parts, configuration, now: () => new Date(parts.now()) }),
      rulesRoutes(files, changes),
      decodersRoutes(files, changes),
      listsRoutes(lists, parts.home, uploads),
      logtestRoutes({ ...parts, node }),
      eventsRoutes({ ...parts, node }),
      agentsRoutes(directory, sums),
      agentsSummaryRoutes(directory, groups, sums),
      agentsKeysRoutes(directory, keys),
      agentsDeleteRoutes(directory, keys),
      agentsGroupRoutes(directory, groups),
      groupsRoutes({ groups, agents: directory, sums }),
      groupsConfigurationRoutes(folders, parts.logger),
      groupsFilesRoutes(folders),
      agentsCommandRoutes({ node, configuration, directory, groups, orders }),
      agentsRequestRoutes({ directory, questions: new AgentQuestions({ ...parts, node }), manager: questions }),
      syscheckRoutes(scans),
      rootcheckRoutes(scans),
    ],
  };
}
