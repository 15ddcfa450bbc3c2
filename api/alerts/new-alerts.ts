import { pause } from '../../lib/async/pause.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { FIRST_PLACE } from './alert-place.js';

/** How long svc-db is asked to wait for a new alert, milliseconds. */
const WAIT_MS = 10_000;
/** svc-db has so long to answer on top. */
const SPARE_MS = 5000;
/** Pause after new alerts, milliseconds: a flood of them has streams look four times a second and no more. */
const PAUSE_MS = 250;
/** Pause before svc-db is asked again after a failure. */
const RETRY_MS = 1000;

/**
 * Tells those who wait that there are new alerts. One question waits in svc-db, however many wait here: it carries out a limited number
 * of calls at a time, which streams must not use up.
 */
export class NewAlerts {
  readonly #db: Pick<RequestClient<typeof dbContract>, 'call'>;
  readonly #waiting = new Set<() => void>();
  readonly #stopped = new AbortController();
  #isAsking = false;

  /** @param db notices no silence: it is asked to wait */
  constructor(db: Pick<RequestClient<typeof dbContract>, 'call'>) {
    this.#db = db;
  }

  /** Resolves when alerts may have come since the latest look, after `mostMs`, or when the signal says so. */
  next(mostMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, mostMs);
      signal.addEventListener('abort', wake, { once: true });
      this.#waiting.add(wake);
      if (signal.aborted) wake();
      else if (!this.#isAsking) void this.#ask();
    });
  }

  stop(): void {
    this.#stopped.abort();
    this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Until nobody waits any more. */
  async #ask(): Promise<void> {
    this.#isAsking = true;
    const { signal } = this.#stopped;
    try {
      while (this.#waiting.size > 0 && !signal.aborted) {
        try {
          // What was written before that place is found by those who look now; what comes behind it ends the wait.
          const { cursor } = await this.#follow('end', 0);
          this.#wake();
          const { alerts } = await this.#follow(cursor ?? FIRST_PLACE, WAIT_MS);
          if (alerts.length > 0) {
            this.#wake();
            await pause(PAUSE_MS, signal);
          }
        } catch {
          // Those who look themselves say why.
          this.#wake();
          await pause(RETRY_MS, signal);
        }
      }
    } finally {
      this.#isAsking = false;
    }
  }

  #follow(after: string, waitMs: number) {
    const options = { deadlineMs: waitMs + SPARE_MS, signal: this.#stopped.signal };
    return this.#db.call('alerts.follow', { after, waitMs, limit: 1 }, options);
  }
}
