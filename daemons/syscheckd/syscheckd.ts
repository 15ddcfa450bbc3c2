import { isDeepStrictEqual } from 'node:util';
import { keepShared, sharedProblem } from '../../lib/agents/load-host-config.js';
import type { Handlers } from '../../lib/bus/contract.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { syscheckdContract } from '../../lib/bus/contracts/syscheckd.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { ownDirectory } from '../../lib/home/own-directory.js';
import { activeSections } from './active-sections.js';
import { FileMonitor } from './file-monitor.js';
import { setProcessPriority } from './process-priority.js';
import { EventSender } from './record/event-sender.js';
import { Rootcheck } from './rootcheck/rootcheck.js';
import { RootkitMonitor } from './rootkit-monitor.js';
import type { SyscheckdSettings } from './settings.js';
import { FileStore } from './store/file-store.js';
import { SETTINGS } from './syscheckd-settings.js';
import { takeOrder } from './take-order.js';

/** At a stop: time for scans to end in good order, before the store is closed under them. */
const SETTLE_MS = 1500;
/** Then: time for events to be acknowledged; those that are not go out after the next start. */
const DRAIN_MS = 1000;

/** svc-syscheckd: watches files and looks for rootkits, on managers and agents (integrity-and-inventory.md 2, 3, 9). */
export const SYSCHECKD = defineDaemon({
  contract: syscheckdContract,
  settings: SETTINGS,
  accept(next, current, { logger }) {
    // Threads take over the priority of who makes them: before the first is made.
    if (current === undefined) setProcessPriority(next.syscheck.process_priority, logger);
    else keepShared(current.shared, next.shared);
  },
  async build({ home, logger, settings, problems, fatal, requests, moduleLogger }, parts) {
    const current = (): SyscheckdSettings => settings.current;
    problems.set('shared', sharedProblem(settings.current.shared));
    const db =
      settings.current.role === 'server'
        ? parts.use(new RequestClient({ contract: dbContract, path: home.socket('svc-db') }))
        : undefined;
    const store = parts.use(await FileStore.open(ownDirectory(home, 'queue', 'fim', 'db'), logger));
    void store.broken.then(fatal);
    const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-syscheckd', logger });
    const sender = new EventSender({
      outbox: store.outbox,
      producer,
      maxEps: () => settings.current.syscheck.max_eps,
      logger,
      failed: fatal,
    });
    parts.defer(() => sender.stop(() => producer.close(DRAIN_MS)));

    const front = parts.together({ withinMs: SETTLE_MS });
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
      rootcheck: new Rootcheck({ outbox: store.outbox, logger: moduleLogger('rootcheck') }),
      logger,
      setProblem: problems.of('rootcheck'),
    });
    await front.start(
      requests({
        stats: (counters) => ({
          requests: { ...counters },
          events: producer.stats(),
          sender: { ...sender.counters },
          ...files.stats,
          rootcheck: rootkits.status,
        }),
        sections: activeSections(current, () => files.directories),
        handlers: handlers(files, rootkits),
      }),
    );
    producer.start();
    sender.start();
    logger.info('(6000): Starting daemon...');
    await front.start(files);
    await front.start(rootkits);

    return {
      async apply(now, before) {
        problems.set('shared', sharedProblem(now.shared));
        const { process_priority: priority } = now.syscheck;
        if (priority !== before.syscheck.process_priority) setProcessPriority(priority, logger);
        await files.reload(!isDeepStrictEqual(now.syscheck, before.syscheck));
        rootkits.reload(!isDeepStrictEqual(now.rootcheck, before.rootcheck));
      },
    };
  },
});

function handlers(
  files: FileMonitor,
  rootkits: RootkitMonitor,
): Pick<Handlers<typeof syscheckdContract>, 'order' | 'scan.status'> {
  return {
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
  };
}
