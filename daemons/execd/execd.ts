import { BusError } from '../../lib/bus/bus-error.js';
import { execdContract } from '../../lib/bus/contracts/execd.js';
import { callSupervisor } from '../../lib/control/control-client.js';
import { within } from '../../lib/daemon/daemon-parts.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { reportTimes } from '../../lib/daemon/report-times.js';
import { ownDirectory } from '../../lib/home/own-directory.js';
import { describeError } from '../../lib/log/describe-error.js';
import { ActiveResponses } from './active-responses.js';
import { SETTINGS } from './execd-settings.js';
import { ManagerFeed } from './feed/manager-feed.js';
import { ResponseError } from './response-error.js';
import { ResponsePolicy } from './response-policy.js';
import { ResponseRunner, TICK_MS } from './response-runner.js';
import { ResponseStore } from './response-store.js';

/** How long a stop waits for scripts that run; they go on by themselves then. */
const SCRIPTS_MS = 2000;

/** svc-execd: carries out active responses on this host (daemons-and-config.md 5). It alone opens `queue/execd`. */
export const EXECD = defineDaemon({
  contract: execdContract,
  settings: SETTINGS,
  async build({ home, logger, settings, fatal, requests }, parts) {
    const startedAt = Date.now();
    const store = parts.use(await ResponseStore.open(ownDirectory(home, 'queue', 'execd')));
    void store.broken.then(fatal);
    const active = new ActiveResponses(store, { wall: () => Date.now(), monotonic: () => performance.now() });
    const policy = new ResponsePolicy({ home, settings: () => settings.current, logger });
    for (const [index, minutes] of policy.repeatedOffenders.entries()) {
      logger.info(`Adding offenders timeout: ${String(minutes)} (for #${String(index + 1)})`);
    }
    const restart = (): void => {
      // It ends this process, too: nobody waits for its end.
      callSupervisor(home, { command: 'restart' }).catch((error: unknown) => {
        logger.error(`The restart failed: ${describeError(error)}`);
      });
    };
    const runner = new ResponseRunner({ store, active, policy, directory: home.root, restart, logger });
    parts.adopt(runner, async () => {
      await within(SCRIPTS_MS, runner.stop());
      if (active.size > 0) {
        const left = `${String(active.size)} active responses stay in force`;
        logger.info(`${left}: each is undone when its time is over, by the next start at the latest.`);
      }
    });
    const feedParts = {
      home,
      store: store.feed,
      logger,
      accept: runner.accept.bind(runner),
      node: () => settings.current.nodeName,
      cluster: settings.started.clustered ? settings.started.nodeName : undefined,
    };
    const feed = settings.started.role === 'server' ? new ManagerFeed(feedParts, parts) : undefined;
    await parts.start(
      requests({
        stats: (counters) => ({
          requests: { ...counters },
          responses: { ...runner.counts, ...runner.pending },
          ...(feed === undefined ? {} : { feed: feed.stats() }),
        }),
        handlers: {
          'statistics.read': () => ({
            ...reportTimes(startedAt),
            metrics: {
              responses: { ...runner.counts, ...runner.pending },
              ...feed?.metrics(),
            },
          }),
          'responses.run': async ({ message }) => {
            try {
              await runner.accept(message);
              return {};
            } catch (error) {
              throw error instanceof ResponseError ? new BusError(error.code, error.message) : error;
            }
          },
        },
      }),
    );
    runner.start();
    if (feed !== undefined) {
      feed.start(fatal);
      parts.use(feed);
    }
    parts.every(TICK_MS, () => {
      runner.undoDue();
    });
    return {};
  },
});
