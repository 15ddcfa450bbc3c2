import { hostname } from 'node:os';
import { ClientKeysFile } from '../../lib/agentlink/client-keys-file.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { AgentStores } from './agent-stores.js';
import { agentsHandlers } from './agents-handlers.js';
import { AgentSelection } from './alerts/agent-selection.js';
import { openAlerts } from './alerts/open-alerts.js';
import { BackupFiles } from './backup/backup-files.js';
import { backupHandlers } from './backup/backup-handlers.js';
import { openRegistry } from './backup/open-registry.js';
import { RegistryBackups } from './backup/registry-backups.js';
import { type DbSettings, SETTINGS } from './db-settings.js';
import { forgetting } from './forgetting.js';
import { openGroups } from './groups/open-groups.js';
import { groupsHandlers } from './groups-handlers.js';
import { ensureManagerAgent, MANAGER_VERSION } from './manager-agent.js';
import { openPresence } from './presence/open-presence.js';
import { QueryStatistics } from './query-statistics.js';
import { Registry } from './registry.js';

const now = (): number => Date.now();
/** How often it is looked whether a backup is due. */
const BACKUP_LOOK_MS = 60_000;

/**
 * svc-db: the only process that opens `queue/db`, the registry of agents, labels and groups (agents-and-groups.md 10), and
 * `queue/db/fim`, their files, `queue/db/inventory`, what else is on their hosts, `queue/db/sca`, how they do by policies
 * (integrity-and-inventory.md 7, 10, 11), and `queue/db/alerts`, the alerts that can be searched.
 */
export const DB = defineDaemon({
  contract: dbContract,
  settings: SETTINGS,
  async build({ home, logger, settings, problems, fatal, requests }, parts) {
    const directory = home.path('queue', 'db');
    const backupFiles = new BackupFiles(home.path('backup', 'db'));
    const keys = async () => (await new ClientKeysFile(home.path('etc', 'client.keys')).read()).agents;
    const shared = home.path('etc', 'shared');
    const open = () => Registry.open(directory, problems.of('registry'));
    const opened = await openRegistry({ open, directory, backups: backupFiles, keys, shared, logger, now });
    const registry = parts.use(opened);
    void registry.broken.then(fatal);
    const settle = async ({ nodeName }: DbSettings) => {
      const seconds = Math.floor(now() / 1000);
      await registry.ensureDefaultGroup(seconds);
      await ensureManagerAgent(registry, hostname(), nodeName, seconds);
    };
    await settle(settings.current);

    const stores = parts.use(await AgentStores.open({ directory, registry, logger, problems, now }));
    void stores.broken.then(fatal);

    const { clustered } = settings.started;
    const groups = openGroups({ home, logger, registry, clustered }, parts);
    const backups = parts.use(
      new RegistryBackups({
        registry,
        authority: groups,
        files: backupFiles,
        keys,
        settings: () => settings.current.config.wdb.backup,
        logger,
        setProblem: problems.of('backups'),
        now,
      }),
    );
    const statistics = new QueryStatistics({ startedAt: now(), now, monotonic: () => performance.now() });
    const presence = await openPresence({ home, logger, settings: settings.started, registry, stores, now }, parts);
    const agents = agentsHandlers(registry, groups, now, MANAGER_VERSION, presence.owners);
    const { alert_store: alertStore } = settings.started.config;
    const selection = new AgentSelection(registry.agents);
    const alerts = openAlerts({ home, logger, settings: alertStore, agents: selection, now }, parts);
    const server = requests({
      stats: (counters) => ({
        requests: { ...counters },
        registry: registryStats(registry),
        ...stores.stats(),
        ...groups.stats(),
        backups: backups.counters,
        ...presence.stats(),
      }),
      handlers: {
        ...agents,
        ...forgetting(agents, stores.all, logger),
        ...groupsHandlers(registry, groups, now),
        ...stores.handlers(),
        ...backupHandlers(backups),
        ...alerts.handlers,
        ...presence.handlers,
        'statistics.read': () => statistics.report(),
      },
      around: (handlers) => statistics.counting(handlers),
    });
    await stores.start();
    await parts.start(server);
    registry.start();
    alerts.start();
    parts.every(BACKUP_LOOK_MS, () => void backups.look());
    logger.debug(`Agents: ${registry.agents.size}, groups: ${registry.groups.size}.`);
    const apply = async (next: DbSettings): Promise<void> => {
      await settle(next);
      await alerts.apply(next.config.alert_store);
    };
    return { apply };
  },
});

function registryStats({ counters, agents, groups, removals }: Registry): Record<string, number> {
  return { ...counters, agents: agents.size, groups: groups.size, removals_crowded_out: removals.crowdedOut };
}
