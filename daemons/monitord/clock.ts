import { setTimeout as delay } from 'node:timers/promises';

/** Time as the maintenance of log files sees it; tests bring their own. */
export interface Clock {
  now(): Date;
  /** Resolves after the time, or at once when the signal aborts. Never rejects. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The time of the host. */
export const HOST_CLOCK: Clock = {
  now: () => new Date(),
  async sleep(milliseconds, signal) {
    try {
      await delay(milliseconds, undefined, { signal });
    } catch {
      // Aborted: the caller looks at the signal.
    }
  },
};
