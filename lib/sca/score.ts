/** Share of checks that passed in per cent, in single precision; those that are not applicable do not count (integrity-and-inventory.md 10.4). */
export function scoreOf(passed: number, failed: number): number {
  return passed + failed === 0 ? 0 : Math.fround((100 * passed) / (passed + failed));
}
