import type { PushResult } from '../../../lib/agentlink/file-push.js';
import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { SharedFolder } from './shared-folder.js';

export type SharedUpdatesParts = {
  readonly folder: SharedFolder;
  readonly logger: Logger;
  /** Sends an event of the agent itself. @param text `wazuh: ...` */
  readonly report: (text: string) => void;
  /** The files of a push are in place: they are to be used now. */
  readonly installed: () => Promise<void>;
};

/** What became of pushes since the start. */
export type SharedCounters = { installed: number; failed: number; replaced: number };

/**
 * Takes files the manager pushes, one after the other: of those that come while one is unpacked only the last counts
 * (agents-and-groups.md 4.4, 6.9). Managers push nothing but the merged file: any other name would put, say, an
 * agent.conf in place that no sum told to the manager covers, and would be removed with the next merged file.
 */
export class SharedUpdates {
  readonly counters: SharedCounters = { installed: 0, failed: 0, replaced: 0 };
  readonly #parts: SharedUpdatesParts;
  #next: Buffer | undefined;
  #working: Promise<void> | undefined;
  /** A manager pushes a file again at each keepalive until it is in place: its failure is one event, not thousands. */
  #failed: string | undefined;

  constructor(parts: SharedUpdatesParts) {
    this.#parts = parts;
  }

  /** Takes what a push has brought. */
  take(result: PushResult): void {
    const { logger } = this.#parts;
    if (!result.ok) {
      if (result.reason === 'not_open') return;
      this.counters.failed += 1;
      if (result.reason === 'wrong_md5') logger.debug(`Failed md5 for: ${result.name} -- deleting.`);
      else logger.error(`The file '${result.name}' that the manager sent is too large: it is not taken over.`);
    } else if (result.name !== MERGED_FILE) {
      this.counters.failed += 1;
      logger.warn(`The manager sent a file '${result.name}': only '${MERGED_FILE}' is taken over.`);
    } else {
      if (this.#next !== undefined) this.counters.replaced += 1;
      this.#next = result.content;
      this.#working ??= this.#work().finally(() => (this.#working = undefined));
    }
  }

  /** Resolves when nothing is being unpacked. */
  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  async #work(): Promise<void> {
    for (let content = this.#next; content !== undefined; content = this.#next) {
      this.#next = undefined;
      await this.#install(content);
    }
  }

  async #install(content: Buffer): Promise<void> {
    const { folder, logger, report, installed } = this.#parts;
    try {
      await folder.install(content);
    } catch (error) {
      this.counters.failed += 1;
      const reason = describeError(error);
      if (reason !== this.#failed) {
        this.#failed = reason;
        logger.error(`Could not unmerge shared file: ${reason}`);
        report('wazuh: Could not unmerge shared file.');
      } else {
        logger.debug(`Could not unmerge shared file again: ${reason}`);
      }
      return;
    }
    this.#failed = undefined;
    this.counters.installed += 1;
    try {
      await installed();
    } catch (error) {
      logger.error(`The new shared files cannot be used: ${describeError(error)}`);
    }
  }
}
