import { setPriority } from 'node:os';

/** Lowers the priority of the calling thread alone; without the permission it stays as it is. @param nice 0 to 19 */
export function setThreadPriority(nice: number): void {
  try {
    // For Linux each thread has its own.
    setPriority(nice);
  } catch {
    // Raising it needs a capability that the daemon does not have.
  }
}
