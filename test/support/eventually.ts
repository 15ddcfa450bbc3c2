/** A machine that is busy takes long, and a test that passes does not wait for it; less than mocha's limit, to say what for. */
const PATIENCE_MS = 30_000;

/**
 * Polls until `probe` gives something other than undefined or false.
 * @throws Error naming `what` after the deadline
 */
export async function eventually<T>(
  what: string,
  probe: () => T | Promise<T>,
  deadlineMs = PATIENCE_MS,
): Promise<Exclude<T, undefined | false>> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
