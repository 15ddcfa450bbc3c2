import { setTimeout as sleep } from 'node:timers/promises';
import { serveJob } from '../thread/serve-thread.js';
import type { CheckContext } from './check-context.js';
import { rootcheckScan } from './rootcheck-scan.js';
import { MOST_UNTAKEN, type RootcheckNews, type RootcheckOrder } from './run-rootcheck.js';

/*
 * The thread of one scan: it looks at every file and every number there is with calls that block, so that the loop of the
 * daemon goes on whatever they meet. A scan that is called off ends with its thread.
 */
serveJob<RootcheckOrder, undefined, RootcheckNews>(async ({ settings, progress }, tell) => {
  // Most numbers and names that are asked for are not there: the stacks of those errors would cost more than the asking.
  Error.stackTraceLimit = 0;
  const steps = new Int32Array(progress);
  const step = (): void => void Atomics.add(steps, 0, 1);
  const untaken = new Set<Promise<void>>();
  const context: CheckContext = {
    settings,
    step,
    note: (level, text) => void tell({ kind: 'note', level, text }),
    async report(text) {
      const told = tell({ kind: 'finding', text }).finally(() => untaken.delete(told));
      untaken.add(told);
      while (untaken.size >= MOST_UNTAKEN) await Promise.race(untaken);
      step();
    },
    async pause(milliseconds = settings.sleepMs) {
      step();
      await sleep(milliseconds);
      step();
    },
  };
  await rootcheckScan(context);
  // What was found may still be on its way to the disk.
  await Promise.all(untaken);
});
