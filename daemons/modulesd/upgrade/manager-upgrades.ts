import { setTimeout as delay } from 'node:timers/promises';
import { parseRelease } from '../../../lib/agentlink/release-version.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonParts } from '../../../lib/daemon/daemon-parts.js';
import type { SettingsInForce } from '../../../lib/daemon/daemon-settings.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { COMPATIBILITY_VERSION } from '../../../lib/product/version.js';
import type { StoreError } from '../../../lib/store/store-error.js';
import { modulesdHandlers } from '../modulesd-handlers.js';
import { type ModulesdSettings, upgradesAtOnce } from '../modulesd-settings.js';
import { TaskStore } from '../tasks/task-store.js';
import { CLEAR_RESULT } from './agent-commands.js';
import { askAgent } from './ask-agent.js';
import { deliverUpgrade } from './deliver-upgrade.js';
import { PACKAGE_FOLDER } from './package-file.js';
import { UpgradeRunner } from './upgrade-runner.js';

/** How often tasks are looked at that nothing is heard of, and those that are old; milliseconds. */
const EXPIRE_MS = 1000;
const CLEANUP_MS = 60_000;
const SECOND_MS = 1000;

const now = (): number => Math.floor(Date.now() / SECOND_MS);
const sleep = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  await delay(milliseconds, undefined, { signal });
};

export type ManagerUpgradesParts = {
  readonly home: Home;
  readonly settings: SettingsInForce<ModulesdSettings>;
  readonly logger: Logger;
  /** Called when the disk does not take a commit any more. */
  readonly fatal: (error: StoreError) => void;
};

/** Upgrades of agents, and the tasks that they are (agents-and-groups.md 4.5). It alone opens `queue/tasks`. */
export class ManagerUpgrades {
  readonly handlers: ReturnType<typeof modulesdHandlers>;
  readonly #tasks: TaskStore;
  readonly #runner: UpgradeRunner;
  readonly #cleanupTime: () => number;
  readonly #logger: Logger;

  /** @throws StoreError */
  static async open(context: ManagerUpgradesParts, parts: DaemonParts): Promise<ManagerUpgrades> {
    const tasks = parts.use(await TaskStore.open(context.home.path('queue', 'tasks')));
    void tasks.broken.then(context.fatal);
    return new ManagerUpgrades(context, parts, tasks);
  }

  private constructor({ home, settings, logger }: ManagerUpgradesParts, parts: DaemonParts, tasks: TaskStore) {
    const db = parts.use(new RequestClient({ contract: dbContract, path: home.socket('svc-db') }));
    const remoted = parts.use(new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') }));
    const stopped = parts.adopt(new AbortController(), (controller) => {
      controller.abort();
    });
    const folder = home.path(...PACKAGE_FOLDER.split('/'));
    const config = (): ModulesdSettings['config'] => settings.current.config;
    const chunkBytes = (): number => config()['agent-upgrade'].chunk_size;
    this.#tasks = tasks;
    this.#logger = logger;
    this.#cleanupTime = () => config()['task-manager'].cleanup_time;
    this.#runner = parts.use(
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
    const node = (): string => settings.current.nodeName;
    this.handlers = modulesdHandlers({ tasks, db, root: home.root, managerVersion, node, now, runner: this.#runner });
  }

  stats(): Record<string, unknown> {
    return { known: this.#tasks.size, ...this.#runner.counts };
  }

  /** Goes on with what was under way. */
  async start(parts: DaemonParts): Promise<void> {
    await this.#runner.start();
    const failures = this.#logger.limited();
    const guarded = (work: Promise<unknown>): void => {
      work.catch((error: unknown) => {
        failures.error(`Tasks cannot be kept: ${describeError(error)}`);
      });
    };
    parts.every(EXPIRE_MS, () => {
      guarded(this.#runner.expire());
    });
    parts.every(CLEANUP_MS, () => {
      guarded(this.#tasks.forgetOlder(now() - this.#cleanupTime()));
    });
  }
}
