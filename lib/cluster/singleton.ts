import { BusError } from '../bus/bus-error.js';
import type { ClusterdClient } from './shared-records.js';

/** An answer that does not come in time is no leave. */
const ASK_MS = 2000;

/**
 * Leave for jobs that one node of a cluster does (architecture.md 4 "Cluster"). It is asked for before each action and never
 * remembered: a process that stood still for a minute is told no, whoever it was before.
 */
export class Singleton {
  readonly #client: Pick<ClusterdClient, 'call'> | undefined;
  readonly #now: () => number;

  /**
   * @param client undefined without a cluster: the one manager does all jobs
   * @param now milliseconds of a clock that is not set
   */
  constructor(client: Pick<ClusterdClient, 'call'> | undefined, now = () => performance.now()) {
    this.#client = client;
    this.#now = now;
  }

  /** Whether this node may do the next action of a job, now. Nobody may while it is not known who does. */
  async mayAct(): Promise<boolean> {
    if (this.#client === undefined) return true;
    const asked = this.#now();
    try {
      const { held, leftMs } = await this.#client.call('lease.check', {}, { deadlineMs: ASK_MS });
      // An answer that this process slept through is none.
      return held && this.#now() - asked < leftMs;
    } catch (error) {
      if (error instanceof BusError) return false;
      throw error;
    }
  }
}
