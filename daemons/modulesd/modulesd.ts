import { keepShared, sharedProblem } from '../../lib/agents/load-host-config.js';
import { BusError } from '../../lib/bus/bus-error.js';
import { modulesdContract } from '../../lib/bus/contracts/modulesd.js';
import { EventProducer } from '../../lib/bus/event-producer.js';
import { defineDaemon } from '../../lib/daemon/define-daemon.js';
import { HostModules } from './host-modules.js';
import { type ModulesdSettings, SETTINGS } from './modulesd-settings.js';
import { ManagerUpgrades } from './upgrade/manager-upgrades.js';

/** Time for what was sent to be acknowledged when the daemon stops; what is not is lost, as the program ran already. */
const DRAIN_MS = 2000;

/**
 * svc-modulesd: modules of this host that run by a schedule (daemons-and-config.md 7), and on managers upgrades of agents with
 * the tasks that they are.
 */
export const MODULESD = defineDaemon({
  contract: modulesdContract,
  settings: SETTINGS,
  accept(next, current) {
    if (current !== undefined) keepShared(current.config.shared, next.config.shared);
  },
  async build({ home, logger, moduleLogger, settings, problems, fatal, requests }, parts) {
    const { role, config } = settings.current;
    problems.set('shared', sharedProblem(config.shared));
    const upgradeLogger = moduleLogger('agent-upgrade');
    const upgrades =
      role === 'agent'
        ? undefined
        : await ManagerUpgrades.open({ home, settings, logger: upgradeLogger, fatal }, parts);

    const ends = parts.together();
    const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-modulesd', logger });
    const modules = new HostModules({ home, producer, logger, moduleLogger, settings: settings.started }, parts);
    await ends.start(
      requests({
        stats: (counters) => ({
          requests: { ...counters },
          ...(upgrades === undefined ? {} : { tasks: upgrades.stats() }),
          events: producer.stats(),
          ...modules.stats,
        }),
        handlers: {
          ...(upgrades?.handlers ?? NO_UPGRADES),
          order: ({ text }) => {
            modules.order(text);
            return {};
          },
        },
      }),
    );
    await upgrades?.start(parts);
    producer.start();
    await modules.follow(settings.current);
    ends.defer(async () => {
      await modules.stop();
      await producer.close(DRAIN_MS);
    });
    return {
      async apply(now: ModulesdSettings) {
        problems.set('shared', sharedProblem(now.config.shared));
        await modules.follow(now);
      },
    };
  },
});

const refuse = (): never => {
  throw new BusError('not_supported', 'Agents are upgraded by their manager.');
};

/** What an agent answers in place of a manager. */
const NO_UPGRADES: ManagerUpgrades['handlers'] = {
  'upgrades.create': refuse,
  'upgrades.last': refuse,
  'upgrades.report': refuse,
  'tasks.list': refuse,
};
