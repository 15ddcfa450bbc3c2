import { setTimeout as delay } from 'node:timers/promises';
import { parseRelease } from '../../lib/agentlink/release-version.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { modulesdContract } from '../../lib/bus/contracts/modulesd.js';
import { remotedContract } from '../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { describeError } from '../../lib/log/describe-error.js';
import { COMPATIBILITY_VERSION } from '../../lib/product/version.js';
import { modulesdHandlers } from './modulesd-handlers.js';
import { SETTINGS, upgradesAtOnce } from './modulesd-settings.js';
import { TaskStore } from './tasks/task-store.js';
import { CLEAR_RESULT } from './upgrade/agent-commands.js';
import { askAgent } from './upgrade/ask-agent.js';
import { deliverUpgrade } from './upgrade/deliver-upgrade.js';
import { PACKAGE_FOLDER } from './upgrade/package-file.js';
import { UpgradeRunner } from './upgrade/upgrade-runner.js';

/** How often tasks are looked at that nothing is heard of, and those that are old; milliseconds. */
const EXPIRE_MS = 1000;
const CLEANUP_MS = 60_000;
const SECOND_MS = 1000;

const now = (): number => Math.floor(Date.now() / SECOND_MS);
const sleep = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  await delay(milliseconds, undefined, { signal });
};

/**
 * svc-modulesd: upgrades of agents, and the tasks that they are (agents-and-groups.md 4.5, daemons-and-config.md 7). It
 * alone opens `queue/tasks`.
 */
export const MODULESD = defineDaemon({
  contract: modulesdContract,
  settings: SETTINGS,
  async build({ home, moduleLogger, settings, fatal, requests }, parts) {
    const logger = moduleLogger('agent-upgrade');
    const tasks = parts.use(await TaskStore.open(home.path('queue', 'tasks')));
    void tasks.broken.then(fatal);
    const db = parts.use(new RequestClient({ contract: dbContract, path: home.socket('svc-db') }));
    const remoted = parts.use(new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') }));
    const stopped = parts.adopt(new AbortController(), (controller) => {
      controller.abort();
    });

    const folder = home.path(...PACKAGE_FOLDER.split('/'));
    const config = () => settings.current.config;
    const chunkBytes = () => config()['agent-upgrade'].chunk_size;
    const runner = parts.use(
      new UpgradeRunner({
        tasks,
        deliver: (task, delivery) => deliverUpgrade({ db, remoted, folder, chunkBytes, sleep }, task, delivery),
        clearResult: async (agent) => {
          await askAgent(remoted, agent, CLEAR_RESULT, stopped.signal);
        },
        logger,
        atOnce: upgradesAtOnce(settings.started),
        timeout: () => config()['task-manager'].task_timeout,
        now,
        sleep,
      }),
    );

    const managerVersion = parseRelease(COMPATIBILITY_VERSION) ?? [0, 0, 0];
    const node = () => settings.current.nodeName;
    await parts.start(
      requests({
        stats: (counters) => ({ requests: { ...counters }, tasks: { known: tasks.size, ...runner.counts } }),
        handlers: modulesdHandlers({ tasks, db, root: home.root, managerVersion, node, now, runner }),
      }),
    );
    await runner.start();

    const failures = logger.limited();
    const guarded = (work: Promise<unknown>): void => {
      work.catch((error: unknown) => {
        failures.error(`Tasks cannot be kept: ${describeError(error)}`);
      });
    };
    parts.every(EXPIRE_MS, () => {
      guarded(runner.expire());
    });
    parts.every(CLEANUP_MS, () => {
      guarded(tasks.forgetOlder(now() - config()['task-manager'].cleanup_time));
    });
    return {};
  },
});
