import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';

/** Says once that another daemon went away, and once that it is back. */
export class PeerLog {
  readonly #logger: Logger;
  readonly #away: string;
  readonly #back: string;
  #isAway = false;

  /** @param away what it means, such as `Responses wait` @param back the opposite */
  constructor(logger: Logger, away: string, back: string) {
    this.#logger = logger;
    this.#away = away;
    this.#back = back;
  }

  failed(error: unknown): void {
    if (!this.#isAway) this.#logger.warn(`${this.#away}: ${describeError(error)}`);
    this.#isAway = true;
  }

  worked(): void {
    if (this.#isAway) this.#logger.info(`${this.#back}.`);
    this.#isAway = false;
  }
}
