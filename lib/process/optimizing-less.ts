import { setFlagsFromString } from 'node:v8';

/** How long V8 waits until it optimizes a function: by which flag, how long by itself, and how long for work that is done once. */
type Patience = readonly [flag: string, usual: number, long: number];

/**
 * By version of V8, in bytes of code that were run, or in calls. Later ones have a compiler between, and gain nothing by it.
 */
const PATIENCE: ReadonlyMap<string, Patience> = new Map([
  ['11', ['interrupt-budget', 132 * 1024, 1_000_000]],
  ['12', ['invocation-count-for-turbofan', 3000, 30_000]],
]);

let under = 0;

/**
 * Does work that is done once and runs through much code, as loading a ruleset: V8 takes two fifths of the CPU of it for
 * optimizing functions that are done before that pays. Holds for all threads of the process meanwhile, whose functions are optimized a
 * little later. @throws what the work throws
 */
export function optimizingLess<T>(work: () => T): T {
  const [version = ''] = process.versions.v8.split('.');
  const patience = PATIENCE.get(version);
  if (patience === undefined) return work();
  const [flag, usual, long] = patience;
  under += 1;
  if (under === 1) setFlagsFromString(`--${flag}=${String(long)}`);
  try {
    return work();
  } finally {
    under -= 1;
    if (under === 0) setFlagsFromString(`--${flag}=${String(usual)}`);
  }
}
