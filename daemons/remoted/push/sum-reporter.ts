import { describeError } from '../../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../../lib/log/logger.js';
import { COLLECT_MS, RETRY_MS } from './push-limits.js';

export type MergedSum = { readonly groups: readonly string[]; readonly md5: string };

export type SumReporterParts = {
  /** All merged files there are. */
  readonly sums: () => readonly MergedSum[];
  /** Tells svc-db. */
  readonly tell: (sums: readonly MergedSum[]) => Promise<unknown>;
  readonly logger: Logger;
  /** Waits; resolves early when the daemon stops. */
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/**
 * Tells svc-db the sums of all merged files whenever one has changed, as it derives from them whether an agent has the
 * configuration of its groups (`group_config_status`).
 */
export class SumReporter {
  readonly #parts: SumReporterParts;
  readonly #failureLog: LimitedLogger;
  #changed = false;
  #wake: (() => void) | undefined;
  #stopped = false;

  constructor(parts: SumReporterParts) {
    this.#parts = parts;
    this.#failureLog = parts.logger.limited();
  }

  /** There is something to tell. */
  changed(): void {
    this.#changed = true;
    this.#wake?.();
  }

  /** Works until `stop`. */
  async run(): Promise<void> {
    const { sums, tell, sleep } = this.#parts;
    while (!this.#isStopped()) {
      if (!this.#changed) await this.#untilWoken();
      await sleep(COLLECT_MS);
      if (this.#isStopped()) return;
      this.#changed = false;
      try {
        await tell(sums());
      } catch (error) {
        if (this.#isStopped()) return;
        this.#changed = true;
        this.#failureLog.error(`svc-db did not take the sums of merged files: ${describeError(error)}`);
        await sleep(RETRY_MS);
      }
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#wake?.();
  }

  // A method, as what happens while something is awaited is not seen by the compiler.
  #isStopped(): boolean {
    return this.#stopped;
  }

  async #untilWoken(): Promise<void> {
    if (this.#stopped) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}
