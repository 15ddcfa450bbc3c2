import { setTimeout as delay } from 'node:timers/promises';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';

/** A disk that takes nothing is tried again after this time. */
const RETRY_MS = 1000;
/** A problem that stays is logged again after this time. */
const REPEAT_LOG_MS = 60_000;

/** Thrown by a wait that was ended. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/**
 * Does what a full or failing disk may refuse, again and again until it is done: the analysis waits meanwhile, the
 * journal goes on taking events, and once a minute the log says what is in the way.
 */
export class Patience {
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  /** When the wait was logged last, by the monotonic clock. */
  #loggedAt = -Infinity;
  #reason: string | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** What is in the way at present. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** @throws StoppedError after `stop` */
  async until(action: () => void | Promise<void>): Promise<void> {
    for (;;) {
      try {
        await action();
        if (this.#reason !== undefined) this.#logger.info('Alerts are being written again.');
        this.#reason = undefined;
        this.#loggedAt = -Infinity;
        return;
      } catch (error) {
        this.#reason = describeError(error);
        const now = performance.now();
        if (now - this.#loggedAt >= REPEAT_LOG_MS) {
          this.#loggedAt = now;
          this.#logger.error(`Alerts cannot be written, events wait in the journal: ${this.#reason}`);
        }
        await this.pause(RETRY_MS);
      }
    }
  }

  /** Waits. @throws StoppedError after `stop` */
  async pause(milliseconds: number): Promise<void> {
    if (!this.#stopped.signal.aborted) {
      await delay(milliseconds, undefined, { signal: this.#stopped.signal }).catch(() => {});
    }
    if (this.#stopped.signal.aborted) throw new StoppedError('the analysis was stopped');
  }

  /** Ends all waits. */
  stop(): void {
    this.#stopped.abort();
  }
}
