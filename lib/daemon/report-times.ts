/**
 * Times of a report of `statistics.read` (daemons-and-config.md 11.3), epoch seconds.
 * @param startedAt of the daemon, epoch milliseconds
 */
export function reportTimes(startedAt: number): { readonly uptime: number; readonly timestamp: number } {
  return { uptime: Math.floor(startedAt / 1000), timestamp: Math.floor(Date.now() / 1000) };
}
