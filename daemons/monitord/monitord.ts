import { authdContract } from '../../lib/bus/contracts/authd.js';
import { commonHandlers } from '../../lib/bus/contracts/common.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { monitordContract } from '../../lib/bus/contracts/monitord.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import type { DaemonContext, DaemonSpec, RunningDaemon } from '../../lib/daemon/daemon-spec.js';
import { AgentWatch } from './agent-watch.js';
import { check } from './check.js';
import { HOST_CLOCK } from './clock.js';
import { Maintenance } from './maintenance.js';
import { ManagerLogRotation } from './manager-log-rotation.js';
import { monitordHandlers } from './monitord-handlers.js';
import { activeSections, agentWatchSettings, loadMonitordSettings, logWarnings } from './monitord-settings.js';
import { OutputSums } from './output-sums.js';

/** The event the stock rules know as the start of the manager (rule 502; daemons-and-config.md 4.1). */
const STARTED_EVENT = 'ossec: Manager started.';
const STARTED_LOCATION = 'wazuh-monitord';
const LOCAL_LOG_QUEUE = '1';

/**
 * svc-monitord: reports the state of the daemons, the configuration and the manager's log, looks after log files at night,
 * and sees which agents are no longer heard.
 */
export const MONITORD: DaemonSpec = {
  name: 'svc-monitord',
  check,
  build: buildMonitord,
};

async function buildMonitord(context: DaemonContext): Promise<RunningDaemon> {
  const { home, logger } = context;
  let settings = loadMonitordSettings(home);
  logWarnings(settings, logger);

  const stopped = new AbortController();
  const rotation = new ManagerLogRotation(home, logger, HOST_CLOCK, stopped.signal);
  const sums = new OutputSums(home, stopped.signal);
  const maintenance = new Maintenance(HOST_CLOCK, logger, rotation, sums, () => settings.maintenance, stopped.signal);

  const isWorker = () => {
    const { cluster } = settings.config;
    return cluster !== undefined && !cluster.disabled && cluster.node_type === 'worker';
  };
  const events = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-monitord', logger });
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const authd = new RequestClient({ contract: authdContract, path: home.socket('svc-authd') });
  const watch = new AgentWatch({
    db,
    authd,
    send: (event) => events.room > 0 && events.trySend(event),
    clock: HOST_CLOCK,
    logger,
    settings: () => agentWatchSettings(settings, isWorker()),
  });
  const server = new RequestServer<typeof monitordContract>({
    contract: monitordContract,
    path: home.socket('svc-monitord'),
    logger,
    handlers: {
      ...commonHandlers('svc-monitord', {
        stats: (): Record<string, unknown> => ({
          requests: { ...server.counters },
          events: events.stats(),
          agents: { disconnected: watch.remembered },
        }),
        sections: activeSections(() => settings),
        reload: context.reload,
      }),
      ...monitordHandlers(home, logger, isWorker, () => HOST_CLOCK.now()),
    },
  });
  await server.start();

  events.start();
  events.trySend({
    queue: LOCAL_LOG_QUEUE,
    location: STARTED_LOCATION,
    message: Buffer.from(STARTED_EVENT),
    receivedAt: HOST_CLOCK.now().getTime(),
  });
  const working = Promise.all([maintenance.run(), watch.run(stopped.signal)]);

  return {
    addresses: { requests: { protocol: 'ipc', address: home.socket('svc-monitord') } },
    reload() {
      return Promise.resolve().then(() => {
        const next = loadMonitordSettings(home);
        logWarnings(next, logger);
        settings = next;
        return [];
      });
    },
    async stop() {
      stopped.abort();
      // A call under way would otherwise be waited for.
      db.close();
      authd.close();
      await Promise.all([server.stop(), events.close(), working]);
    },
  };
}
