import { pause } from '../../lib/async/pause.js';
import { BusError } from '../../lib/bus/bus-error.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import type { Pipeline } from './pipeline/pipeline.js';

/** How often svc-db is asked, milliseconds: an agent that gets a removed one's number takes longer until it reports. */
const POLL_MS = 500;
const DEADLINE_MS = 5000;
/** How long a start waits for what svc-db knows, milliseconds; it may be starting, too. */
const CATCH_UP_MS = 1000;
/** Removals in one record of the journal. */
const PAGE = 1000;

export type RemovedAgentsFeedParts = {
  readonly db: Pick<RequestClient<typeof dbContract>, 'call'>;
  readonly pipeline: Pick<Pipeline, 'removedThrough' | 'forgetAgents'>;
  readonly logger: Logger;
  /** For tests. */
  readonly pollMs?: number;
};

/**
 * Follows which agents svc-db has removed and brings it into the journal, each removal once whatever is killed: the journal
 * has the number of the last one, and svc-db keeps those that it was not asked to forget.
 */
export class RemovedAgentsFeed {
  readonly #parts: RemovedAgentsFeedParts;
  readonly #failureLog: LimitedLogger;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: RemovedAgentsFeedParts) {
    this.#parts = parts;
    this.#failureLog = parts.logger.limited();
  }

  /** Takes over what svc-db knows now; gives up when it does not answer soon. Never rejects. */
  async catchUp(): Promise<void> {
    await this.#tryRead(CATCH_UP_MS);
  }

  start(onFailure: (error: unknown) => void): void {
    this.#running = this.#run().catch(onFailure);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { pollMs = POLL_MS } = this.#parts;
    while (!signal.aborted) {
      await this.#tryRead(DEADLINE_MS);
      await pause(pollMs, signal);
    }
  }

  async #tryRead(deadlineMs: number): Promise<void> {
    try {
      while (await this.#read(deadlineMs));
    } catch (error) {
      // svc-db that is away removes nothing; a journal that takes nothing says so itself.
      if (error instanceof BusError || this.#stopping.signal.aborted) return;
      this.#failureLog.error(`Removed agents are not forgotten yet: ${describeError(error)}`);
    }
  }

  /** @returns whether there may be more */
  async #read(deadlineMs: number): Promise<boolean> {
    const { db, pipeline } = this.#parts;
    const { signal } = this.#stopping;
    const params = { after: pipeline.removedThrough, limit: PAGE };
    const { removed } = await db.call('agents.removed', params, { deadlineMs, signal });
    const through = removed.at(-1)?.sequence;
    if (through === undefined || signal.aborted) return false;
    await pipeline.forgetAgents({ ids: removed.map(({ id }) => id), through });
    return removed.length === PAGE;
  }
}
