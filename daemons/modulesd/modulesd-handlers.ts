import { Limiter } from '../../lib/async/limiter.js';
import type { Handlers } from '../../lib/bus/contract.js';
import type { commonMethods } from '../../lib/bus/contracts/common.js';
import type { modulesdContract } from '../../lib/bus/contracts/modulesd.js';
import { shownTask } from './tasks/task-record.js';
import { createUpgrades, type CreateUpgradesParts } from './upgrade/create-upgrades.js';
import type { UpgradeRunner } from './upgrade/upgrade-runner.js';

/** Calls that make tasks and wait for their turn. */
const MOST_WAITING = 64;

export type ModulesdHandlersParts = CreateUpgradesParts & { readonly runner: Pick<UpgradeRunner, 'add' | 'report'> };

/** What is for the modules of the host, `order`, is answered by them. */
type OwnMethods = Exclude<keyof (typeof modulesdContract)['methods'], keyof typeof commonMethods | 'order'>;

/** Answers of svc-modulesd about upgrades and tasks. */
export function modulesdHandlers(parts: ModulesdHandlersParts): Pick<Handlers<typeof modulesdContract>, OwnMethods> {
  const { tasks, runner } = parts;
  // What a call finds of an agent must hold until its task is made.
  const inTurn = new Limiter({ atOnce: 1, mostWaiting: MOST_WAITING });
  return {
    'upgrades.create': (wanted) =>
      inTurn.run(async () => {
        const { created, tasks: made } = await createUpgrades(parts, wanted);
        for (const { id } of made) runner.add(id);
        return created;
      }),
    'upgrades.last': ({ agents }) => {
      const last = agents.map((agent) => ({ agent, task: tasks.lastOf(agent) }));
      return {
        tasks: last.flatMap(({ task }) => (task === undefined ? [] : [shownTask(task)])),
        without: last.filter(({ task }) => task === undefined).map(({ agent }) => agent),
      };
    },
    'upgrades.report': async ({ reports }) => {
      for (const { agent, message } of reports) await runner.report(agent, message);
      return {};
    },
    'tasks.list': ({ after, limit, ...filter }) => {
      const page = tasks.list(filter, after, limit);
      return { tasks: page.tasks.map(shownTask), more: page.more };
    },
  };
}
