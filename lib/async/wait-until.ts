import { setTimeout as sleep } from 'node:timers/promises';

/** When `waitUntil` looks. Milliseconds. */
export type WaitOptions = {
  /** Between two looks. */
  readonly everyMs: number;
  /** With back-off: each pause is twice the one before, up to this. */
  readonly longestMs?: number;
  /** After so long it gives up; there is a last look then. */
  readonly mostMs: number;
};

/**
 * Looks until there is something, the first time at once, one look after the other.
 * @param look gives undefined or false while there is nothing; what it throws ends the wait
 * @returns what was there; undefined when there was nothing in time
 */
export async function waitUntil<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { everyMs, longestMs = everyMs, mostMs }: WaitOptions,
): Promise<T | undefined> {
  const end = performance.now() + mostMs;
  for (let pause = everyMs; ; pause = Math.min(2 * pause, longestMs)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() >= end) return undefined;
    await sleep(pause);
  }
}
