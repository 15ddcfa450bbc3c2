/** A time of counters: `2025-06-05T08:00:01+00:00` (rest-api.md 4.6). */
export function isoTime(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().replace(/\.\d{3}Z$/, '+00:00');
}
