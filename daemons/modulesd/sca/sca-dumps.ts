import type { Limiter } from '../../../lib/async/limiter.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { dumpEndMessage, summaryMessage } from './sca-messages.js';
import type { ScaResults, StoredScan } from './sca-results.js';
import type { ScaSender } from './sca-sender.js';

export type ScaDumpsParts = {
  readonly results: ScaResults;
  readonly sender: ScaSender;
  readonly turns: Limiter;
  readonly logger: Logger;
  /** Seconds that an answer waits at most where nothing hurries: `sca.request_db_interval`, or the interval of scans. */
  readonly longestDelay: () => number;
  /** 0 to below 1. */
  readonly random: () => number;
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** Before the answer to a first scan, between the checks and their end, and between that and the summary. */
const FIRST_DELAY_MS = 2000;
const BEFORE_END_MS = 5000;
const BEFORE_SUMMARY_MS = 2000;
const SECOND_MS = 1000;

/** A request that waits for its time. */
type WaitingDump = { first: boolean; readonly hurry: AbortController };

/** Tells all results of a policy to a manager that asks for them (integrity-and-inventory.md 10.4). */
export class ScaDumps {
  /** Requests that were taken, those that were one with another that waits, those of unknown policies, and answers. */
  readonly counts = { taken: 0, merged: 0, unknown: 0, answered: 0 };
  readonly #parts: ScaDumpsParts;
  readonly #waiting = new Map<string, WaitingDump>();
  readonly #working = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor(parts: ScaDumpsParts) {
    this.#parts = parts;
  }

  /** @returns false when there are no results of such a policy */
  take(policyId: string, first: boolean): boolean {
    if (this.#parts.results.get(policyId) === undefined) {
      this.counts.unknown += 1;
      return false;
    }
    this.counts.taken += 1;
    const waiting = this.#waiting.get(policyId);
    if (waiting !== undefined) {
      this.counts.merged += 1;
      // One of a first scan does not wait for as long as others do.
      if (first && !waiting.first) {
        waiting.first = true;
        waiting.hurry.abort();
      }
      return true;
    }
    const dump = { first, hurry: new AbortController() };
    this.#waiting.set(policyId, dump);
    const working = this.#answer(policyId, dump).finally(() => this.#working.delete(working));
    this.#working.add(working);
    return true;
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new Error('stopped'));
    await Promise.all(this.#working);
  }

  async #answer(policyId: string, dump: WaitingDump): Promise<void> {
    const { results, logger, turns } = this.#parts;
    const { signal } = this.#stopped;
    try {
      await this.#wait(policyId, dump, signal);
      await turns.run(
        async () => {
          // What is asked for from now on is asked for again.
          this.#waiting.delete(policyId);
          const stored = results.get(policyId);
          if (stored === undefined) {
            return logger.debug(`Policy '${policyId}' is not there any more: nothing is resent.`);
          }
          await this.#send(stored, dump.first, signal);
          this.counts.answered += 1;
        },
        { signal },
      );
    } catch (error) {
      this.#waiting.delete(policyId);
      if (!signal.aborted) logger.error(`Results of policy '${policyId}' were not resent: ${describeError(error)}`);
    }
  }

  async #wait(policyId: string, dump: WaitingDump, signal: AbortSignal): Promise<void> {
    const { longestDelay, random, pause, logger } = this.#parts;
    if (!dump.first) {
      const seconds = Math.floor(random() * longestDelay());
      logger.warn(
        `Integration checksum failed for policy '${policyId}'. Resending scan results in ${String(seconds)} seconds.`,
      );
      await pause(seconds * SECOND_MS, AbortSignal.any([signal, dump.hurry.signal]));
    }
    if (dump.first) await pause(FIRST_DELAY_MS, signal);
    signal.throwIfAborted();
  }

  async #send({ scan, checks }: StoredScan, first: boolean, signal: AbortSignal): Promise<void> {
    const { sender, pause } = this.#parts;
    for (const { message } of checks.values()) await sender.send(message, signal);
    await pause(BEFORE_END_MS, signal);
    await sender.send(dumpEndMessage(scan, checks.size), signal);
    if (!first) return;
    await pause(BEFORE_SUMMARY_MS, signal);
    await sender.send(summaryMessage(scan, 'force_alert').text, signal);
  }
}
