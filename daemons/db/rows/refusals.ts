import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';

/** Counts what is not stored, by the reason, and says so: of each reason not too often. */
export class Refusals<Reason extends string> {
  readonly counts: Readonly<Record<Reason, number>>;
  readonly #counts: Record<Reason, number>;
  readonly #logs: ReadonlyMap<string, LimitedLogger>;
  readonly #texts: Readonly<Record<Reason, string | undefined>>;
  readonly #what: string;

  /**
   * @param what `An event of files`
   * @param texts what is wrong, by the reason; undefined: it is counted and not said
   */
  constructor(what: string, texts: Readonly<Record<Reason, string | undefined>>, logger: Logger) {
    const reasons = Object.keys(texts) as Reason[];
    this.#what = what;
    this.#texts = texts;
    this.#logs = new Map(reasons.map((reason) => [reason, logger.limited()]));
    this.#counts = Object.fromEntries(reasons.map((reason) => [reason, 0])) as Record<Reason, number>;
    this.counts = this.#counts;
  }

  /** For others to hold. */
  readonly refuse = (reason: Reason, agent: string): void => {
    this.#counts[reason] += 1;
    const text = this.#texts[reason];
    if (text !== undefined) {
      this.#logs.get(reason)?.warn(`${this.#what} of agent '${agent}' is not stored: ${text}.`);
    }
  };
}
