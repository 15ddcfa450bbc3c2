import { pause } from '../../../lib/async/pause.js';
import { retry } from '../../../lib/async/retry.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';

/** A disk that takes nothing is tried again after this time. */
const RETRY_MS = 1000;

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
  #log: LimitedLogger;
  #reason: string | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
    this.#log = logger.limited();
  }

  /** What is in the way at present. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** @throws StoppedError after `stop` */
  async until(action: () => void | Promise<void>): Promise<void> {
    const onFailure = (error: unknown): void => {
      this.#reason = describeError(error);
      this.#log.error(`Alerts cannot be written, events wait in the journal: ${this.#reason}`);
    };
    await retry(action, { pauseMs: RETRY_MS, signal: this.#stopped.signal, onFailure });
    if (this.#reason === undefined) return;
    this.#logger.info('Alerts are being written again.');
    this.#reason = undefined;
    // The next problem is another one: it is told at once.
    this.#log = this.#logger.limited();
  }

  /** Waits. @throws StoppedError after `stop` */
  async pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, this.#stopped.signal);
    this.#stopped.signal.throwIfAborted();
  }

  /** Ends all waits. */
  stop(): void {
    this.#stopped.abort(new StoppedError('the analysis was stopped'));
  }
}
