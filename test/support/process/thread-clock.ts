import { readFileSync } from 'node:fs';

/** Nanoseconds that the main thread waited for a processor, where the system tells. */
function waited(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]);
  } catch {
    return 0;
  }
}

/**
 * Milliseconds for which some work holds the main thread: those that pass, without those in which other processes had its
 * processor. Helper threads of V8 do not count, but waiting for them does.
 */
export function heldMilliseconds(work: () => void): number {
  const before = waited();
  const start = process.hrtime.bigint();
  work();
  const passed = Number(process.hrtime.bigint() - start);
  return Math.max(0, passed - (waited() - before)) / 1e6;
}
