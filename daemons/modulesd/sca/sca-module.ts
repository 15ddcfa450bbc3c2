import { randomInt } from 'node:crypto';
import { statSync } from 'node:fs';
import { Limiter } from '../../../lib/async/limiter.js';
import { pause } from '../../../lib/async/pause.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { ScaConfig } from '../../../lib/config/sections/modules.js';
import type { Logger } from '../../../lib/log/logger.js';
import { Evaluator } from '../../../lib/sca/evaluate.js';
import { policyPlaces } from '../../../lib/sca/load-policies.js';
import type { PolicyFileOptions } from '../../../lib/sca/policy-file.js';
import { ScaCommands } from '../../../lib/sca/run-sca-command.js';
import { ModuleLoop } from '../schedule/module-loop.js';
import type { PacedSenderParts } from '../schedule/paced-sender.js';
import type { RunTimes } from '../schedule/run-times.js';
import { LookThreads } from './look-threads.js';
import { ScaDumps } from './sca-dumps.js';
import { ScaResults } from './sca-results.js';
import { ScaScans } from './sca-scan.js';
import { ScaSender } from './sca-sender.js';

export type ScaModuleParts = PacedSenderParts & {
  readonly times: RunTimes;
  readonly logger: Logger;
  /** Seconds: `sca.commands_timeout`, `wazuh_modules.kill_timeout`, and `sca.request_db_interval` in minutes. */
  readonly commandsTimeout: () => number;
  readonly killTimeout: () => number;
  readonly requestInterval: () => number;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** What the module goes by: the configuration, and where policies lie. */
export type ScaOrders = { readonly config: ScaConfig | undefined; readonly file: PolicyFileOptions };

/** Under which its last run is kept. */
const NAME = 'sca';
const SECOND_MS = 1000;
const MINUTE_SECONDS = 60;
const MONTH_SECONDS = 28 * 86_400;
const MOST_SCAN_ID = 2 ** 31;
const ORDER = /^sca-dump:(.{1,255}):([01])$/;

type RunningScans = { readonly key: string; readonly config: ScaConfig; readonly loop: ModuleLoop };

/** The security configuration assessment of this host (integrity-and-inventory.md 10). */
export class ScaModule {
  readonly #parts: ScaModuleParts;
  readonly #results = new ScaResults();
  readonly #sender: ScaSender;
  readonly #turns = new Limiter({ atOnce: 1 });
  readonly #looks = new LookThreads({ module: new URL('./look-thread.js', import.meta.url) });
  readonly #dumps: ScaDumps;
  #commands: ScaCommands | undefined;
  #scans: ScaScans | undefined;
  #running: RunningScans | undefined;

  constructor(parts: ScaModuleParts) {
    this.#parts = parts;
    this.#sender = new ScaSender(parts);
    this.#dumps = new ScaDumps({
      ...{ results: this.#results, sender: this.#sender, turns: this.#turns, logger: parts.logger },
      longestDelay: () => Math.min(parts.requestInterval() * MINUTE_SECONDS, this.#interval()),
      random: () => Math.random(),
      pause,
    });
  }

  /** Has it follow a configuration: one that asks for the same, of the same files, changes nothing. */
  async follow({ config, file }: ScaOrders): Promise<void> {
    const { logger, times, now } = this.#parts;
    const wanted = config?.enabled === true ? config : undefined;
    const key = wanted === undefined ? undefined : keyOf(wanted, file);
    if (key === this.#running?.key) return;
    await this.#running?.loop.stop();
    this.#running = undefined;
    if (wanted === undefined || key === undefined) {
      if (config !== undefined) logger.info('Module disabled. Exiting.');
      return;
    }
    const scans = this.#newScans(wanted, file);
    const loop = new ModuleLoop({
      ...{ name: NAME, schedule: wanted, runOnStart: wanted.scan_on_start, times, logger, now },
      run: async (signal) => {
        try {
          await scans.run({ file, named: wanted.policies.policy }, signal);
        } finally {
          this.#looks.rest();
        }
        return true;
      },
    });
    this.#running = { key, config: wanted, loop };
    logger.info('Module started.');
    loop.start();
  }

  /**
   * Takes an order `sca-dump:<policy>:<first>`: has all results of a policy told again.
   * @param text byte string
   * @throws BusError `unrecognized`, `off`
   */
  order(text: string): void {
    const [, policy, first] = ORDER.exec(Buffer.from(text, 'latin1').toString('utf8')) ?? [];
    if (policy === undefined) throw new BusError('unrecognized', 'Unrecognized command');
    if (this.#running === undefined) throw new BusError('off', 'the configuration assessment is switched off');
    if (this.#dumps.take(policy, first === '1')) return;
    // After a start managers may ask for what is not there yet: its first scan has them ask again.
    this.#parts.logger.debug(`There are no results of a policy '${policy}' that the manager asks for.`);
  }

  stats(): Record<string, unknown> {
    return {
      enabled: this.#running !== undefined,
      ...this.#results.counts(),
      ...(this.#scans?.counts ?? {}),
      sent: this.#sender.sent,
      commands: { ...(this.#commands?.counts ?? { run: 0, failed: 0, late: 0 }) },
      dumps: { ...this.#dumps.counts },
    };
  }

  async stop(): Promise<void> {
    await Promise.all([this.#running?.loop.stop(), this.#dumps.stop()]);
    this.#looks.rest();
    this.#running = undefined;
  }

  /** What scans count goes on over changes of the configuration. */
  #newScans(config: ScaConfig, { home }: PolicyFileOptions): ScaScans {
    const { commandsTimeout, killTimeout, logger, now } = this.#parts;
    this.#commands ??= new ScaCommands({
      directory: home.root,
      maxMs: () => commandsTimeout() * SECOND_MS,
      killMs: () => killTimeout() * SECOND_MS,
    });
    const evaluator = new Evaluator({
      ...{ looker: this.#looks, commands: this.#commands, skipNfs: config.skip_nfs, base: '' },
    });
    const { counts } = this.#scans ?? {};
    this.#scans = new ScaScans({
      ...{ evaluator, results: this.#results, sender: this.#sender, turns: this.#turns, logger, now, pause },
      load: (order, signal) => this.#looks.load(order, signal),
      scanId: () => randomInt(1, MOST_SCAN_ID),
    });
    if (counts !== undefined) Object.assign(this.#scans.counts, counts);
    return this.#scans;
  }

  /** Seconds between scans. */
  #interval(): number {
    const interval = this.#running?.config.interval;
    if (interval === undefined) return Number.MAX_SAFE_INTEGER;
    return interval.unit === 'month' ? interval.count * MONTH_SECONDS : interval.count;
  }
}

/** Changes with the configuration and with the files of policies: what a manager pushed anew is evaluated at once. */
function keyOf(config: ScaConfig, file: PolicyFileOptions): string {
  const states = policyPlaces(file, config.policies.policy).places.map(({ real }) => {
    const stats = statSync(real, { throwIfNoEntry: false });
    return [real, stats?.ino, stats?.size, stats?.mtimeMs];
  });
  return JSON.stringify([config, file.remoteCommands, states]);
}
