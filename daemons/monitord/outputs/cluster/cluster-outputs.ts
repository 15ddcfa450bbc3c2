import { pause } from '../../../../lib/async/pause.js';
import type { ClusterdClient } from '../../../../lib/cluster/shared-records.js';
import type { Logger } from '../../../../lib/log/logger.js';
import type { AlertSource } from '../alert-source.js';
import { ClusterAlertFeed } from './cluster-alert-feed.js';
import { OutputTurns } from './output-turns.js';

/** How often svc-clusterd is told of outputs, and asked which files are still to be published, milliseconds. */
const REPEAT_MS = 5000;

export type ClusterOutputsParts = { readonly clusterd: ClusterdClient; readonly logger: Logger };

/** Outputs that hand on the alerts of all nodes of a cluster, each of them at one node at a time. */
export class ClusterOutputs {
  readonly #parts: ClusterOutputsParts;
  readonly #turns: OutputTurns;
  #neededFile: string | undefined;

  constructor(parts: ClusterOutputsParts) {
    this.#parts = parts;
    this.#turns = new OutputTurns(parts.clusterd, parts.logger);
  }

  /** Where an output has its alerts from. @param key of its definition @param name as logs call it */
  source(key: string, name: string): AlertSource {
    const { clusterd, logger } = this.#parts;
    return new ClusterAlertFeed({ key, name, clusterd, turns: this.#turns, logger });
  }

  /** Says which outputs this node has. @param keys of their definitions */
  async follow(keys: readonly string[]): Promise<void> {
    await this.#turns.describe(keys);
  }

  /** File of `logs/alerts` from which on alerts are not with all nodes yet; 'all' as long as it is not known. */
  get neededFile(): string | 'all' {
    return this.#neededFile ?? 'all';
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#turns.repeat();
      await this.#askForNeeded();
      await pause(REPEAT_MS, signal);
    }
  }

  async #askForNeeded(): Promise<void> {
    try {
      const { file } = await this.#parts.clusterd.call('alerts.needed', {});
      if (file !== null) this.#neededFile = file;
    } catch {
      // What was needed before is needed still.
    }
  }
}
