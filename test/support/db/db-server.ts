import { AgentStores } from '../../../daemons/db/agent-stores.js';
import { agentsHandlers } from '../../../daemons/db/agents-handlers.js';
import { AgentSelection } from '../../../daemons/db/alerts/agent-selection.js';
import { type AlertHandlers, withoutStore } from '../../../daemons/db/alerts/without-store.js';
import { BackupFiles } from '../../../daemons/db/backup/backup-files.js';
import { backupHandlers } from '../../../daemons/db/backup/backup-handlers.js';
import { RegistryBackups } from '../../../daemons/db/backup/registry-backups.js';
import { forgetting } from '../../../daemons/db/forgetting.js';
import { LocalGroups } from '../../../daemons/db/groups/local-groups.js';
import { groupsHandlers } from '../../../daemons/db/groups-handlers.js';
import { ensureManagerAgent, MANAGER_VERSION } from '../../../daemons/db/manager-agent.js';
import { withoutCluster } from '../../../daemons/db/presence/without-cluster.js';
import { QueryStatistics } from '../../../daemons/db/query-statistics.js';
import { Registry } from '../../../daemons/db/registry.js';
import { ClientKeysFile } from '../../../lib/agentlink/client-keys-file.js';
import { commonHandlers } from '../../../lib/bus/contracts/common.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestServer } from '../../../lib/bus/request-server.js';
import type { Home } from '../../../lib/home/home.js';
import { RecordingLogger } from '../recording-logger.js';
import { sampleAgent } from './sample-agents.js';

/** svc-db in this process, with a clock of the test's own. */
export class DbServer {
  private constructor(
    readonly registry: Registry,
    readonly stores: AgentStores,
    private readonly server: RequestServer<typeof dbContract>,
  ) {}

  /** @param now epoch milliseconds @param node name of this node */
  static async start(
    home: Home,
    now: () => number,
    node = 'node01',
    alerts: (agents: AgentSelection) => AlertHandlers = withoutStore,
  ): Promise<DbServer> {
    const registry = await Registry.open(home.path('queue', 'db'), () => {});
    const seconds = Math.floor(now() / 1000);
    await registry.ensureDefaultGroup(seconds);
    await ensureManagerAgent(registry, 'manager1', node, seconds);
    const logger = new RecordingLogger();
    const directory = home.path('queue', 'db');
    const stores = await AgentStores.open({ directory, registry, logger, problems: { of: () => () => {} }, now });
    await stores.start();
    const groups = new LocalGroups(registry);
    const agents = agentsHandlers(registry, groups, now, MANAGER_VERSION);
    const statistics = new QueryStatistics({ startedAt: now(), now, monotonic: () => performance.now() });
    const handlers = statistics.counting({
      ...commonHandlers('svc-db', { stats: () => ({}), sections: new Map(), reload: () => Promise.resolve([]) }),
      ...agents,
      ...forgetting(agents, stores.all, logger),
      ...groupsHandlers(registry, groups, now),
      ...stores.handlers(),
      ...backupHandlers(
        new RegistryBackups({
          registry,
          authority: groups,
          files: new BackupFiles(home.path('backup', 'db')),
          keys: async () => (await new ClientKeysFile(home.path('etc', 'client.keys')).read()).agents,
          settings: () => ({ enabled: true, interval: 86_400, max_files: 3 }),
          logger,
          setProblem: () => {},
          now,
        }),
      ),
      ...withoutCluster(),
      ...alerts(new AgentSelection(registry.agents)),
      'statistics.read': () => statistics.report(),
    });
    const path = home.socket('svc-db');
    const server = new RequestServer({ contract: dbContract, handlers, path, logger });
    await server.start();
    return new DbServer(registry, stores, server);
  }

  /** Agents as of sample-agents.ts with the ids 1 to `count`, and their groups. */
  async fill(count: number): Promise<void> {
    await this.groups(...Array.from({ length: 40 }, (_none, index) => `site-${index}`));
    for (let from = 1; from <= count; from += 5000) {
      await this.registry.edit((edit) => {
        for (let id = from; id < Math.min(count + 1, from + 5000); id += 1) {
          const { record, lastKeepAlive } = sampleAgent(id);
          const row = edit.setAgent(id, record);
          if (lastKeepAlive !== undefined) edit.setKeepAlive(row, lastKeepAlive);
        }
      });
    }
  }

  async groups(...names: readonly string[]): Promise<void> {
    await this.registry.edit((edit) => {
      for (const name of names) edit.setGroup(name, { dateAdd: 0 });
    });
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.stores.close();
    await this.registry.close();
  }
}
