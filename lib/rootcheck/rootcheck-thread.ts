import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type CheckContext, StoppedError } from './check-context.js';
import { rootcheckScan } from './rootcheck-scan.js';
import { FLAGS, MOST_UNTAKEN, type ScanThreadData, type ScanThreadMessage } from './run-rootcheck.js';

/*
 * The thread of one scan: it looks at every file and every number there is with calls that block, so that the loop of the
 * daemon goes on whatever they meet.
 */
const { settings, flags } = workerData as ScanThreadData;
const shared = new Int32Array(flags);
let untaken = 0;
let wake: (() => void) | undefined;

const post = (message: ScanThreadMessage): void => parentPort?.postMessage(message);
const step = (): void => {
  Atomics.add(shared, FLAGS.progress, 1);
  if (Atomics.load(shared, FLAGS.stop) !== 0) throw new StoppedError();
};

const context: CheckContext = {
  settings,
  step,
  note: (level, text) => {
    post({ kind: 'note', level, text });
  },
  async report(text) {
    post({ kind: 'finding', text });
    untaken += 1;
    while (untaken >= MOST_UNTAKEN) {
      await new Promise<void>((resolve) => (wake = resolve));
    }
    step();
  },
  async pause(milliseconds = settings.sleepMs) {
    step();
    await sleep(milliseconds);
    step();
  },
};

parentPort?.on('message', () => {
  untaken -= 1;
  wake?.();
});
// Most numbers and names that are asked for are not there: the stacks of those errors would cost more than the asking.
Error.stackTraceLimit = 0;
try {
  await rootcheckScan(context);
  post({ kind: 'done' });
} catch (error) {
  if (!(error instanceof StoppedError)) throw error;
}
parentPort?.close();
