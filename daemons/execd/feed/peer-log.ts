import { BusError } from '../../../lib/bus/bus-error.js';
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

/** Whether the other side was not reached, or was and could not answer now: to be tried again. */
export function isAbsence(error: unknown): error is BusError {
  return error instanceof BusError && ABSENCES.has(error.code);
}

const ABSENCES: ReadonlySet<string> = new Set([
  ...['unavailable', 'unresponsive', 'timeout', 'busy', 'internal', 'closed', 'disk_full'],
]);
