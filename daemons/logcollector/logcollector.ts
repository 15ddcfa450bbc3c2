import { keepShared, sharedProblem } from '../../lib/agents/load-host-config.js';
import { logcollectorContract } from '../../lib/bus/contracts/logcollector.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { ownDirectory } from '../../lib/home/own-directory.js';
import { Collector } from './collector.js';
import { SETTINGS } from './logcollector-settings.js';

/** Time for what was sent to be acknowledged when the daemon stops; what is not is read again after the next start. */
const DRAIN_MS = 2000;

/** svc-logcollector: reads the logs of this host and hands them to the sink of the home (daemons-and-config.md 6). */
export const LOGCOLLECTOR = defineDaemon({
  contract: logcollectorContract,
  settings: SETTINGS,
  accept(next, current) {
    if (current !== undefined) keepShared(current.shared, next.shared);
  },
  async build({ home, logger, settings, problems, requests }, parts) {
    const { current } = settings;
    problems.set('shared', sharedProblem(current.shared));
    ownDirectory(home, 'queue', 'logcollector');
    const ends = parts.together();
    const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-logcollector', logger });
    const { host } = current;
    const collector = new Collector({ home, settings: current, producer, host, logger, journalctl: 'journalctl' });
    await ends.start(
      requests({
        stats: (counters) => ({
          requests: { ...counters },
          events: producer.stats(),
          collector: collector.counters,
        }),
        handlers: { getstate: () => collector.stats.toJson() },
      }),
    );
    producer.start();
    await collector.start();
    ends.defer(() => collector.stop(() => producer.close(DRAIN_MS)));
    return {
      async apply(now) {
        problems.set('shared', sharedProblem(now.shared));
        await collector.reload(now);
      },
    };
  },
});
