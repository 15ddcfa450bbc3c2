import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { commonHandlers } from '../../lib/bus/contracts/common.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { syscheckdContract } from '../../lib/bus/contracts/syscheckd.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RequestServer } from '../../lib/bus/request-server.js';
import { logConfigWarnings } from '../../lib/config/config-error.js';
import { keepShared, sharedProblem } from '../../lib/config/load-host-config.js';
import type { DaemonContext, DaemonSpec, RunningDaemon } from '../../lib/daemon/daemon-spec.js';
import { Problems } from '../../lib/daemon/problems.js';
import { ownDirectory } from '../../lib/files/own-directory.js';
import { activeSections } from './active-sections.js';
import { check } from './check.js';
import { FileMonitor } from './file-monitor.js';
import { setProcessPriority } from './process-priority.js';
import { EventSender } from './record/event-sender.js';
import { Rootcheck } from './rootcheck/rootcheck.js';
import { RootkitMonitor } from './rootkit-monitor.js';
import { loadSyscheckdSettings, type SyscheckdSettings } from './settings.js';
import { FileStore } from './store/file-store.js';
import { takeOrder } from './take-order.js';

/** At a stop: time for scans to end in good order, before the store is closed under them. */
const SETTLE_MS = 1500;
/** Then: time for events to be acknowledged; those that are not go out after the next start. */
const DRAIN_MS = 1000;

/** svc-syscheckd: watches files and looks for rootkits, on managers and agents (integrity-and-inventory.md 2, 3, 9). */
export const SYSCHECKD: DaemonSpec = {
  name: 'svc-syscheckd',
  check,
  build: buildSyscheckd,
};

async function buildSyscheckd(context: DaemonContext): Promise<RunningDaemon> {
  const { home, logger, fatal } = context;
  let settings = loadSyscheckdSettings(home);
  // Threads take over the priority of who makes them: before the first is made.
  setProcessPriority(settings.syscheck.process_priority, logger);
  logConfigWarnings(settings.warnings, logger);
  const problems = new Problems(context.setProblem);
  problems.set('shared', sharedProblem(settings.shared));

  const directory = ownDirectory(home, 'queue', 'fim', 'db');
  const store = await FileStore.open(directory, logger);
  void store.broken.then(fatal);
  const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-syscheckd', logger });
  const sender = new EventSender({
    outbox: store.outbox,
    producer,
    maxEps: () => settings.syscheck.max_eps,
    logger,
    failed: fatal,
  });
  const db =
    settings.role === 'server' ? new RequestClient({ contract: dbContract, path: home.socket('svc-db') }) : undefined;
  const current = (): SyscheckdSettings => settings;
  const files = new FileMonitor({
    home,
    settings: current,
    store,
    producer,
    db,
    logger,
    setProblem: problems.of('files'),
    fatal,
  });
  const rootkits = new RootkitMonitor({
    settings: current,
    rootcheck: new Rootcheck({ outbox: store.outbox, logger: context.moduleLogger('rootcheck') }),
    logger,
    setProblem: problems.of('rootcheck'),
  });

  const server = new RequestServer<typeof syscheckdContract>({
    contract: syscheckdContract,
    path: home.socket('svc-syscheckd'),
    logger,
    handlers: {
      ...commonHandlers('svc-syscheckd', {
        stats: (): Record<string, unknown> => ({
          requests: { ...server.counters },
          events: producer.stats(),
          sender: { ...sender.counters },
          ...files.stats,
          rootcheck: rootkits.status,
        }),
        sections: activeSections(current, () => files.directories),
        reload: context.reload,
      }),
      order: ({ text }) => {
        takeOrder(text, {
          scan: () => {
            files.requestScan();
            rootkits.requestScan();
          },
          synchronise: (order) => {
            files.synchronise(order);
          },
        });
        return {};
      },
      'scan.status': () => ({ fim: files.status, rootcheck: rootkits.status }),
    },
  });
  await server.start();
  producer.start();
  sender.start();
  logger.info('(6000): Starting daemon...');
  await files.start();
  rootkits.start();

  return {
    addresses: { requests: { protocol: 'ipc', address: home.socket('svc-syscheckd') } },
    async reload() {
      const next = loadSyscheckdSettings(home);
      keepShared(settings.shared, next.shared);
      logConfigWarnings(next.warnings, logger);
      problems.set('shared', sharedProblem(next.shared));
      const changes = {
        files: !isDeepStrictEqual(next.syscheck, settings.syscheck),
        rootkits: !isDeepStrictEqual(next.rootcheck, settings.rootcheck),
        priority: next.syscheck.process_priority !== settings.syscheck.process_priority,
        options: !isDeepStrictEqual(shownOptions(next), shownOptions(settings)),
        // The threads were made with it.
        prefilter: next.syscheck.prefilter_cmd !== settings.syscheck.prefilter_cmd,
      };
      // Options are read at the start only; a scan that is running goes on where nothing of its rules has changed.
      const { scan } = changes.files ? next : settings;
      settings = { ...next, scan, options: settings.options };
      if (changes.priority) setProcessPriority(settings.syscheck.process_priority, logger);
      await files.reload(changes.files);
      rootkits.reload(changes.rootkits);
      return [...(changes.prefilter ? ['syscheck'] : []), ...(changes.options ? ['internal_options'] : [])];
    },
    async stop() {
      const stopped = Promise.all([server.stop(), files.stop(), rootkits.stop()]);
      await Promise.race([stopped, delay(SETTLE_MS, undefined, { ref: false })]);
      await sender.stop(() => producer.close(DRAIN_MS));
      await store.close();
      db?.close();
      await stopped;
    },
  };
}

function shownOptions(settings: SyscheckdSettings): unknown {
  return activeSections(
    () => settings,
    () => [],
  ).get('internal')?.();
}
