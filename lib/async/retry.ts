import { pause } from './pause.js';

export type RetryOptions = {
  /** Between two tries, milliseconds. */
  readonly pauseMs: number;
  /** Ends it before the next try. */
  readonly signal: AbortSignal;
  /** Told of each failure; what it throws ends it, too. */
  readonly onFailure: (error: unknown) => void;
};

/**
 * Does something again and again until it succeeds.
 * @returns what it gave
 * @throws the signal's reason; what `onFailure` throws
 */
export async function retry<T>(action: () => T | Promise<T>, { pauseMs, signal, onFailure }: RetryOptions): Promise<T> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      onFailure(error);
    }
    await pause(pauseMs, signal);
    signal.throwIfAborted();
  }
}
