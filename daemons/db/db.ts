import { hostname } from 'node:os';
import { commonHandlers } from '../../lib/bus/contracts/common.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import type { DaemonContext, DaemonSpec, RunningDaemon } from '../../lib/daemon/daemon-spec.js';
import { Problems } from '../../lib/daemon/problems.js';
import { agentsHandlers } from './agents-handlers.js';
import { check } from './check.js';
import { activeSections, type DbSettings, loadDbSettings, logWarnings } from './db-settings.js';
import { FimDatabase } from './fim/fim-database.js';
import { fimHandlers } from './fim/fim-handlers.js';
import { forgettingFiles } from './fim/forgetting-files.js';
import { groupsHandlers } from './groups-handlers.js';
import { ensureManagerAgent, MANAGER_VERSION } from './manager-agent.js';
import { QueryStatistics } from './query-statistics.js';
import { Registry } from './registry.js';

/**
 * svc-db: the only process that opens `queue/db`, the registry of agents, labels and groups (agents-and-groups.md 10), and
 * `queue/db/fim`, their files (integrity-and-inventory.md 7).
 */
export const DB: DaemonSpec = {
  name: 'svc-db',
  check,
  build: buildDb,
};

async function buildDb(context: DaemonContext): Promise<RunningDaemon> {
  const { home, logger } = context;
  let settings = loadDbSettings(home);
  logWarnings(settings, logger);

  const problems = new Problems(context.setProblem);
  const registry = await Registry.open(home.path('queue', 'db'), problems.of('registry'));
  void registry.broken.then(context.fatal);
  const now = () => Date.now();
  const settle = async ({ nodeName }: DbSettings) => {
    const seconds = Math.floor(now() / 1000);
    await registry.ensureDefaultGroup(seconds);
    await ensureManagerAgent(registry, hostname(), nodeName, seconds);
  };
  await settle(settings);

  const fim = await FimDatabase.open({
    directory: home.path('queue', 'db', 'fim'),
    logger,
    setProblem: problems.of('files'),
    knows: (agent) => registry.agents.get(Number(agent)) !== undefined,
    now,
  });
  void fim.broken.then(context.fatal);

  const statistics = new QueryStatistics({ startedAt: now(), now, monotonic: () => performance.now() });
  const agents = agentsHandlers(registry, now, MANAGER_VERSION);
  const server = new RequestServer<typeof dbContract>({
    contract: dbContract,
    path: home.socket('svc-db'),
    logger,
    handlers: statistics.counting({
      ...commonHandlers('svc-db', {
        stats: (): Record<string, unknown> => ({
          requests: { ...server.counters },
          registry: { ...registry.counters, agents: registry.agents.size, groups: registry.groups.size },
          files: fim.stats(),
        }),
        sections: activeSections(() => settings),
        reload: context.reload,
      }),
      ...agents,
      ...forgettingFiles(agents, fim, logger),
      ...groupsHandlers(registry, now),
      ...fimHandlers(fim, now),
      'statistics.read': () => statistics.report(),
    }),
  });
  await fim.start();
  await server.start();
  registry.start();
  logger.debug(`Agents: ${registry.agents.size}, groups: ${registry.groups.size}.`);

  return {
    addresses: { requests: { protocol: 'ipc', address: home.socket('svc-db') } },
    async reload() {
      const next = loadDbSettings(home);
      logWarnings(next, logger);
      await settle(next);
      settings = next;
      return [];
    },
    async stop() {
      await server.stop();
      await fim.close();
      await registry.close();
    },
  };
}
