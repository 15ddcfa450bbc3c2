import { hostname } from 'node:os';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { agentsHandlers } from './agents-handlers.js';
import { type DbSettings, SETTINGS } from './db-settings.js';
import { FimDatabase } from './fim/fim-database.js';
import { fimHandlers } from './fim/fim-handlers.js';
import { forgettingFiles } from './fim/forgetting-files.js';
import { groupsHandlers } from './groups-handlers.js';
import { ensureManagerAgent, MANAGER_VERSION } from './manager-agent.js';
import { QueryStatistics } from './query-statistics.js';
import { Registry } from './registry.js';

const now = (): number => Date.now();

/**
 * svc-db: the only process that opens `queue/db`, the registry of agents, labels and groups (agents-and-groups.md 10), and
 * `queue/db/fim`, their files (integrity-and-inventory.md 7).
 */
export const DB = defineDaemon({
  contract: dbContract,
  settings: SETTINGS,
  async build({ home, logger, settings, problems, fatal, requests }, parts) {
    const registry = parts.use(await Registry.open(home.path('queue', 'db'), problems.of('registry')));
    void registry.broken.then(fatal);
    const settle = async ({ nodeName }: DbSettings) => {
      const seconds = Math.floor(now() / 1000);
      await registry.ensureDefaultGroup(seconds);
      await ensureManagerAgent(registry, hostname(), nodeName, seconds);
    };
    await settle(settings.current);

    const files = parts.use(
      await FimDatabase.open({
        directory: home.path('queue', 'db', 'fim'),
        logger,
        setProblem: problems.of('files'),
        knows: (agent) => registry.agents.get(Number(agent)) !== undefined,
        now,
      }),
    );
    void files.broken.then(fatal);

    const statistics = new QueryStatistics({ startedAt: now(), now, monotonic: () => performance.now() });
    const agents = agentsHandlers(registry, now, MANAGER_VERSION);
    const server = requests({
      stats: (counters) => ({
        requests: { ...counters },
        registry: { ...registry.counters, agents: registry.agents.size, groups: registry.groups.size },
        files: files.stats(),
      }),
      handlers: {
        ...agents,
        ...forgettingFiles(agents, files, logger),
        ...groupsHandlers(registry, now),
        ...fimHandlers(files, now),
        'statistics.read': () => statistics.report(),
      },
      around: (handlers) => statistics.counting(handlers),
    });
    await files.start();
    await parts.start(server);
    registry.start();
    logger.debug(`Agents: ${registry.agents.size}, groups: ${registry.groups.size}.`);
    return { apply: settle };
  },
});
