import type { CommandModuleConfig } from '../../../lib/config/sections/modules.js';
import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import type { Logger } from '../../../lib/log/logger.js';
import { ModuleLoop } from '../schedule/module-loop.js';
import { PacedSender, type PacedSenderParts } from '../schedule/paced-sender.js';
import type { RunTimes } from '../schedule/run-times.js';
import { CommandModule, type CommandModuleParts, commandName } from './command-module.js';

export type CommandModulesParts = Pick<CommandModuleParts, 'directory' | 'file'> &
  PacedSenderParts & {
    readonly times: RunTimes;
    readonly logger: Logger;
    /** Seconds: `wazuh_modules.kill_timeout`. */
    readonly killTimeout: () => number;
    /** Epoch milliseconds. */
    readonly now: () => number;
  };

type RunningCommand = { readonly settings: string; readonly module: CommandModule; readonly loop: ModuleLoop };

const SECOND_MS = 1000;
/** What names of commands begin with, among those of modules. */
const KIND = 'command ';

/** The commands that the configuration in force asks for. */
export class CommandModules {
  readonly #parts: CommandModulesParts;
  readonly #running = new Map<string, RunningCommand>();

  constructor(parts: CommandModulesParts) {
    this.#parts = parts;
  }

  /** Has them follow a configuration: commands that are the same go on, others begin anew. */
  async follow(configs: readonly CommandModuleConfig[]): Promise<void> {
    const { logger, times } = this.#parts;
    const wanted = new Map<string, CommandModuleConfig>();
    for (const config of configs) {
      if (config.disabled) logger.info(`Module command:${commandName(config)} is disabled. Exiting.`);
      else wanted.set(keyOf(config), config);
    }
    for (const [key, { settings, loop }] of this.#running) {
      const config = wanted.get(key);
      if (config !== undefined && JSON.stringify(config) === settings) continue;
      this.#running.delete(key);
      await loop.stop();
    }
    times.forgetOthers(KIND, new Set(wanted.keys()));
    for (const [key, config] of wanted) if (!this.#running.has(key)) this.#begin(key, config);
  }

  /** By name. */
  stats(): Record<string, unknown> {
    return Object.fromEntries([...this.#running].map(([key, { module }]) => [key, { ...module.counts }]));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ loop }) => loop.stop()));
    this.#running.clear();
  }

  #begin(key: string, config: CommandModuleConfig): void {
    const { directory, file, times, logger, killTimeout, now } = this.#parts;
    const paced = new PacedSender(this.#parts);
    const send: CommandModuleParts['send'] = (location, line, signal) =>
      paced.send({ queue: QUEUE_IDS.log, location, message: line, receivedAt: Date.now() }, signal);
    const module = new CommandModule({ config, directory, file, send, logger, killMs: killTimeout() * SECOND_MS });
    const loop = new ModuleLoop({
      ...{ name: key, schedule: config, runOnStart: config.run_on_start, times, logger, now },
      run: (signal) => module.run(signal),
    });
    this.#running.set(key, { settings: JSON.stringify(config), module, loop });
    logger.info(`Module command:${commandName(config)} started`);
    loop.start();
  }
}

function keyOf(config: CommandModuleConfig): string {
  return `${KIND}${commandName(config)}`;
}
