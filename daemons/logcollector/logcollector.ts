import { commonHandlers } from '../../lib/bus/contracts/common.js';
import { logcollectorContract } from '../../lib/bus/contracts/logcollector.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import { keepShared, sharedProblem } from '../../lib/config/load-host-config.js';
import type { DaemonContext, DaemonSpec, RunningDaemon } from '../../lib/daemon/daemon-spec.js';
import { ownDirectory } from '../../lib/files/own-directory.js';
import { activeSections } from './active-sections.js';
import { check } from './check.js';
import { Collector } from './collector.js';
import { type CollectorSettings, loadCollectorSettings, logWarnings } from './collector-settings.js';
import { hostFacts } from './host-facts.js';

/** Time for what was sent to be acknowledged when the daemon stops; what is not is read again after the next start. */
const DRAIN_MS = 2000;

/** svc-logcollector: reads the logs of this host and hands them to the sink of the home (daemons-and-config.md 6). */
export const LOGCOLLECTOR: DaemonSpec = {
  name: 'svc-logcollector',
  check,
  build: buildLogcollector,
};

async function buildLogcollector(context: DaemonContext): Promise<RunningDaemon> {
  const { home, logger } = context;
  const host = hostFacts();
  let settings = loadCollectorSettings(home, host, logger);
  const startOptions = internalOptions(settings);
  logWarnings(settings, logger);
  context.setProblem(sharedProblem(settings.shared));

  ownDirectory(home, 'queue', 'logcollector');
  const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-logcollector', logger });
  const collector = new Collector({ home, settings, producer, host, logger, journalctl: 'journalctl' });
  const server = new RequestServer<typeof logcollectorContract>({
    contract: logcollectorContract,
    path: home.socket('svc-logcollector'),
    logger,
    handlers: {
      ...commonHandlers('svc-logcollector', {
        stats: (): Record<string, unknown> => ({
          requests: { ...server.counters },
          events: producer.stats(),
          collector: collector.counters,
        }),
        sections: activeSections(() => settings),
        reload: context.reload,
      }),
      getstate: () => collector.stats.toJson(),
    },
  });
  await server.start();
  producer.start();
  await collector.start();

  return {
    addresses: { requests: { protocol: 'ipc', address: home.socket('svc-logcollector') } },
    async reload() {
      const next = loadCollectorSettings(home, host, logger);
      keepShared(settings.shared, next.shared);
      logWarnings(next, logger);
      context.setProblem(sharedProblem(next.shared));
      const changed = internalOptions(next) !== startOptions;
      settings = next;
      await collector.reload(next);
      return changed ? ['internal_options'] : [];
    },
    async stop() {
      await Promise.all([server.stop(), collector.stop(() => producer.close(DRAIN_MS))]);
    },
  };
}

/** Options are read at the start only. */
function internalOptions(settings: CollectorSettings): string {
  return JSON.stringify(activeSections(() => settings).get('internal')?.());
}
