import { pause } from '../async/pause.js';

/** Time as the maintenance of log files sees it; tests bring their own. */
export interface Clock {
  now(): Date;
  /** Resolves after the time, or at once when the signal aborts. Never rejects. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The time of the host. */
export const HOST_CLOCK: Clock = {
  now: () => new Date(),
  sleep: pause,
};
