import type { EventProducer } from '../../lib/bus/event-producer.js';
import type { DaemonParts } from '../../lib/daemon/daemon-parts.js';
import type { Home } from '../../lib/home/home.js';
import { ownDirectory } from '../../lib/home/own-directory.js';
import type { Logger } from '../../lib/log/logger.js';
import { CommandModules } from './command/command-modules.js';
import { hostInventory } from './inventory/host-inventory.js';
import type { InventoryModule } from './inventory/inventory-module.js';
import type { ModulesdSettings } from './modulesd-settings.js';
import { ScaModule } from './sca/sca-module.js';
import { RunTimes } from './schedule/run-times.js';
import { takeOrder } from './take-order.js';

export type HostModulesParts = {
  readonly home: Home;
  readonly producer: EventProducer;
  readonly logger: Logger;
  readonly moduleLogger: (name: string) => Logger;
  /** Of the start: options are read once. */
  readonly settings: ModulesdSettings;
};

/** The modules of this host that run by a schedule, on managers and agents (daemons-and-config.md 7). */
export class HostModules {
  readonly #commands: CommandModules;
  readonly #sca: ScaModule;
  readonly #inventory: InventoryModule;

  constructor({ home, producer, logger, moduleLogger, settings }: HostModulesParts, parts: DaemonParts) {
    const { options, config, role } = settings;
    const times = new RunTimes(`${ownDirectory(home, 'var', 'wodles')}/last-runs.json`, logger);
    const maxEps = (): number => options.get('wazuh_modules.max_eps');
    const killTimeout = (): number => options.get('wazuh_modules.kill_timeout');
    const now = (): number => Date.now();
    this.#commands = new CommandModules({
      ...{ directory: home.root, file: config.file, producer, times, logger: moduleLogger('command') },
      ...{ maxEps, killTimeout, now },
    });
    this.#sca = new ScaModule({
      ...{ producer, times, logger: moduleLogger('sca'), maxEps, killTimeout, now },
      commandsTimeout: () => options.get('sca.commands_timeout'),
      requestInterval: () => options.get('sca.request_db_interval'),
    });
    const nice = (): number => options.get('wazuh_modules.task_nice');
    const inventoryLogger = moduleLogger('syscollector');
    this.#inventory = hostInventory({ home, role, producer, logger: inventoryLogger, maxEps, nice }, parts);
  }

  /** For `stats` of the daemon. */
  get stats(): Record<string, unknown> {
    return { commands: this.#commands.stats(), sca: this.#sca.stats(), inventory: this.#inventory.stats };
  }

  /** Has them follow the settings in force. */
  async follow(settings: ModulesdSettings): Promise<void> {
    const { wodle, sca } = settings.config;
    await this.#commands.follow(wodle.command);
    await this.#inventory.follow(wodle.syscollector);
    await this.#sca.follow({ config: sca, file: settings.policies });
  }

  /** Takes an order of the manager, a byte string. @throws BusError `unrecognized` */
  order(text: string): void {
    takeOrder(text, [
      ['syscollector_', (order) => this.#inventory.take(order)],
      ['sca-dump:', (order) => this.#sca.order(order)],
    ]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#commands.stop(), this.#inventory.stop(), this.#sca.stop()]);
  }
}
