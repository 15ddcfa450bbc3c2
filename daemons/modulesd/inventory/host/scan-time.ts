/** When a scan was, as messages of the inventory have it, UTC: `2023/11/14 22:13:20`. @param milliseconds of the epoch */
export function scanTimeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19).replaceAll('-', '/').replace('T', ' ');
}
