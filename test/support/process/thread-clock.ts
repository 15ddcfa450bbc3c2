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
 * processor. Helper threads of V8 do not count, but waiting for them does, for as long as they have a processor.
 */
export function heldMilliseconds(work: () => void): number {
  // Read around the times of waiting: what is waited for between two readings then counts as both.
  const start = process.hrtime.bigint();
  const before = waited();
  const cpu = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(cpu);
  const waiting = waited() - before;
  const passed = Number(process.hrtime.bigint() - start);
  return Math.max(0, Math.min((passed - waiting) / 1e6, (user + system) / 1000));
}
