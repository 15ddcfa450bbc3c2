import { setTimeout as sleep } from 'node:timers/promises';
import { QUEUE_IDS } from '../../../lib/events/queue-ids.js';
import type { Logger } from '../../../lib/log/logger.js';
import { SCAN_END, SCAN_START } from '../../../lib/rootcheck/findings.js';
import type { RootcheckSettings } from '../../../lib/rootcheck/rootcheck-settings.js';
import { RootcheckError, type RootcheckListener, runRootcheck } from '../../../lib/rootcheck/run-rootcheck.js';
import type { EventOutbox } from '../store/outbox.js';

export type RootcheckParts = {
  readonly outbox: EventOutbox;
  readonly logger: Logger;
  /** Pause between the last finding and the mark of the end, milliseconds. */
  readonly endPauseMs?: number;
};

/** So that the mark of the end comes behind the findings, whatever way they take (integrity-and-inventory.md 9.2). */
const END_PAUSE_MS = 5000;
const LOCATION = 'rootcheck';

/** Looks for rootkits (integrity-and-inventory.md 9): one scan at a time, in a thread of its own. */
export class Rootcheck {
  readonly #parts: RootcheckParts;
  #running: Promise<void> | undefined;

  constructor(parts: RootcheckParts) {
    this.#parts = parts;
  }

  /** Whether a scan is under way. */
  get running(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Makes a scan and tells what it finds. While one is under way there is no second: this resolves with it. A scan that
   * breaks is logged, and has no mark of its end.
   * @param settings as of now; undefined where rootcheck is off: nothing happens
   * @throws the reason of `signal` when it is aborted, the outbox's error
   */
  run(settings: RootcheckSettings | undefined, signal: AbortSignal): Promise<void> {
    if (settings === undefined) return Promise.resolve();
    this.#running ??= this.#scan(settings, signal).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #scan(settings: RootcheckSettings, signal: AbortSignal): Promise<void> {
    const { logger, endPauseMs = END_PAUSE_MS } = this.#parts;
    logger.info(SCAN_START);
    await this.#tell(SCAN_START);
    const listener: RootcheckListener = {
      finding: (text) => this.#tell(text),
      note: (level, text) => {
        logger[level](text);
      },
    };
    try {
      await runRootcheck(settings, listener, signal);
    } catch (error) {
      if (!(error instanceof RootcheckError)) throw error;
      logger.error(error.message);
      return;
    }
    await sleep(endPauseMs, undefined, { signal });
    await this.#tell(SCAN_END);
    logger.info(SCAN_END);
  }

  #tell(text: string): Promise<void> {
    return this.#parts.outbox.put([
      { queue: QUEUE_IDS.rootcheck, location: LOCATION, message: Buffer.from(text, 'latin1') },
    ]);
  }
}
