import { BusError } from '../../../lib/bus/bus-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { Thread } from '../../../lib/thread/thread.js';
import type { AgentSelection } from './agent-selection.js';
import { alertHandlers } from './alert-handlers.js';
import type { AskThread } from './alert-pieces.js';
import type { StoreLimits } from './alert-store.js';
import type { AlertThread } from './alert-thread-contract.js';
import type { AlertHandlers } from './without-store.js';

export type AlertServiceParts = {
  /** Of the segments, `{home}/queue/db/alerts`. */
  readonly directory: string;
  /** `{home}/logs/alerts`. */
  readonly alerts: string;
  readonly limits: StoreLimits;
  readonly agents: AgentSelection;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Megabytes of the thread's heap: one that has more ends, and a new one reads on. Columns and pages lie beside it. */
const THREAD_MEGABYTES = { old: 192, young: 16 };
/** Pause before a thread that broke has a successor. */
const RESTART_MS = 5000;

/** The alerts that can be searched, in a thread of their own: other answers of svc-db do not wait for them. */
export class AlertService {
  readonly handlers: AlertHandlers;
  readonly #parts: AlertServiceParts;
  #limits: StoreLimits;
  #thread: Thread<AlertThread> | undefined;
  #restart: NodeJS.Timeout | undefined;
  #isStopped = false;
  readonly #waiting = new Set<() => void>();

  constructor(parts: AlertServiceParts) {
    this.#parts = parts;
    this.#limits = parts.limits;
    const { agents, now } = parts;
    this.handlers = alertHandlers({ ask: this.#ask, agents, grown: (mostMs) => this.#grown(mostMs), now });
  }

  start(): void {
    this.#begin();
  }

  /** Ends the thread; what waits for new alerts is answered. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restart);
    const thread = this.#thread;
    this.#thread = undefined;
    this.#wake();
    await thread?.call('stop', {}).catch(() => {
      // It broke: nothing of it is lost, the next start reads on.
    });
    await thread?.close();
  }

  /** Other limits are in force from the next look on. */
  async setLimits(limits: StoreLimits): Promise<void> {
    this.#limits = limits;
    await this.#thread?.call('limits', limits).catch(() => {
      // The next thread begins with them.
    });
  }

  readonly #ask: AskThread = async (call, input) => {
    const thread = this.#thread;
    if (thread === undefined) throw unavailable();
    try {
      return await thread.call(call, input);
    } catch {
      throw unavailable();
    }
  };

  #begin(): void {
    const { directory, alerts, logger } = this.#parts;
    this.#thread = new Thread<AlertThread>(new URL('./alert-thread.js', import.meta.url), {
      title: 'the thread of the alert store',
      data: { directory, alerts, limits: this.#limits },
      memory: THREAD_MEGABYTES,
      onNews: (news) => {
        if (news.kind === 'grown') this.#wake();
        else logger[news.level](news.text);
      },
      onFailure: (error) => this.#broke(error),
    });
  }

  #broke(error: Error): void {
    this.#thread = undefined;
    this.#parts.logger.error(`The thread of the alert store broke and begins anew: ${error.message}`);
    this.#wake();
    if (!this.#isStopped) this.#restart = setTimeout(() => this.#begin(), RESTART_MS);
  }

  #grown(mostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, mostMs);
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}

function unavailable(): BusError {
  return new BusError('unavailable', 'The store of alerts is not there for the moment: it begins anew');
}
