import { setTimeout as sleep } from 'node:timers/promises';
import { serveThread } from '../../../lib/thread/serve-thread.js';

/** A thread for the tests of lib/thread/. */
export type TryingThread = {
  readonly data: { readonly factor: number };
  readonly calls: {
    readonly times: (numbers: readonly number[]) => number[];
    readonly late: (order: { readonly ms: number; readonly text: string }) => string;
    readonly fail: (text: string) => never;
    readonly exit: (code: number) => never;
    readonly fill: (unused: undefined) => never;
    readonly hang: (unused: undefined) => never;
    /** Tells so many pieces of news and answers what was taken after each. */
    readonly count: (most: number) => number[];
  };
  readonly news: number;
};

/** An error of the product, as a thread may throw it. */
class TryingError extends Error {
  override readonly name = 'TryingError';
  readonly code = 'tried';
}

serveThread<TryingThread>(({ factor }, tell) => ({
  times: (numbers) => numbers.map((number) => number * factor),
  late: async ({ ms, text }) => {
    await sleep(ms);
    return text;
  },
  fail: (text) => {
    throw new TryingError(text);
  },
  exit: (code) => process.exit(code),
  fill: () => {
    const held: number[][] = [];
    for (;;) held.push(Array.from({ length: 10_000 }, (_, index) => index));
  },
  hang: () => {
    for (;;);
  },
  count: async (most) => {
    const taken: number[] = [];
    for (let number = 1; number <= most; number += 1) {
      await tell(number);
      taken.push(number);
    }
    return taken;
  },
}));
