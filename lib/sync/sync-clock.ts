import { pause } from '../async/pause.js';

/** Time, as the synchronisation goes by it. */
export type SyncClock = {
  /** Epoch seconds. */
  readonly now: () => number;
  /** Seconds of a clock that only goes forward. */
  readonly elapsed: () => number;
  /** Resolves after so many milliseconds, or at once when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** The clock of the host. */
export const HOST_CLOCK: SyncClock = {
  now: () => Math.floor(Date.now() / 1000),
  elapsed: () => performance.now() / 1000,
  sleep: pause,
};
