/** Where programs of a test run that are on hosts of their own, or as if they were. */
export type Place = {
  /** At which they are reached. */
  readonly address: string;
  /** What stands before a command so that it runs there. */
  readonly before: readonly string[];
  /** Environment of what runs there, beside the test's own. */
  readonly env?: Readonly<Record<string, string>>;
};

export const LOOPBACK: Place = { address: '127.0.0.1', before: [] };
