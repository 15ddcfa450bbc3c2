import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PolicyOrder } from '../../../daemons/modulesd/sca/look-threads.js';
import { ScaDumps } from '../../../daemons/modulesd/sca/sca-dumps.js';
import { ScaResults } from '../../../daemons/modulesd/sca/sca-results.js';
import { ScaScans } from '../../../daemons/modulesd/sca/sca-scan.js';
import { ScaSender } from '../../../daemons/modulesd/sca/sca-sender.js';
import { Limiter } from '../../../lib/async/limiter.js';
import { Evaluator } from '../../../lib/sca/evaluate.js';
import { look } from '../../../lib/sca/look.js';
import { loadPolicyFile } from '../../../lib/sca/policy-file.js';
import { ScaCommands } from '../../../lib/sca/run-sca-command.js';
import { eventually } from '../eventually.js';
import { RecordingLogger } from '../recording-logger.js';
import { TemporaryHome } from '../temporary-home.js';

/** Scans with the tree `base` of a home as their host, and a clock that stands: messages and pauses are kept in their order. */
export class ScaKit {
  readonly home = new TemporaryHome();
  readonly scans: ScaScans;
  readonly dumps: ScaDumps;
  scanId: number;
  readonly #logger = new RecordingLogger();
  readonly #told: string[] = [];
  #held = false;

  constructor({ scanId, time }: { readonly scanId: number; readonly time: number }) {
    this.scanId = scanId;
    const results = new ScaResults();
    const turns = new Limiter({ atOnce: 1 });
    const sender = new ScaSender({
      maxEps: () => 1_000_000,
      producer: {
        send: ({ queue, location, message }) => {
          if (queue !== 'p' || location !== 'sca') throw new Error(`${queue}:${location}`);
          this.#told.push(message.toString());
          return Promise.resolve();
        },
      },
    });
    const pause = (milliseconds: number, signal: AbortSignal): Promise<void> => {
      this.#told.push(`pause ${String(milliseconds)}`);
      // A long one lasts until it is called off, when pauses are held.
      if (!this.#held || milliseconds === 2000 || milliseconds === 5000) return setImmediate();
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    };
    const evaluator = new Evaluator({
      looker: { look: (order) => Promise.resolve(look(order)) },
      commands: new ScaCommands({ directory: this.home.root, maxMs: () => 1000, killMs: () => 0 }),
      skipNfs: true,
      base: this.home.path('base'),
    });
    const shared = { results, sender, turns, pause, logger: this.#logger };
    const load = ({ path, real, remoteCommands }: PolicyOrder) =>
      Promise.resolve(loadPolicyFile(path, real, { home: this.home, remoteCommands }));
    this.scans = new ScaScans({ ...shared, evaluator, load, scanId: () => this.scanId, now: () => time * 1000 });
    this.dumps = new ScaDumps({ ...shared, longestDelay: () => 300, random: () => 0.5 });
  }

  write(path: string, text: string): void {
    const file = this.home.path(path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  remove(path: string): void {
    rmSync(this.home.path(path));
  }

  scan(signal = new AbortController().signal): Promise<void> {
    return this.scans.run({ file: { home: this.home, remoteCommands: false }, named: [] }, signal);
  }

  /** Messages and pauses since it was asked last; paths of the tree as those of a host. */
  take(): string[] {
    return this.#told.splice(0).map((text) => text.replaceAll(this.home.path('base'), ''));
  }

  get log(): readonly string[] {
    return this.#logger.lines;
  }

  /** From now on long pauses last until they are called off. */
  holdPauses(): void {
    this.#held = true;
  }

  async paused(text: string): Promise<void> {
    await eventually(text, () => this.#told.includes(text));
  }

  async answered(count: number): Promise<void> {
    await eventually(`${String(count)} answers`, () => this.dumps.counts.answered === count);
  }

  async close(): Promise<void> {
    await this.dumps.stop();
    this.home.remove();
  }
}
