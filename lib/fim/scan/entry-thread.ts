import { parentPort, workerData } from 'node:worker_threads';
import { EntryReader } from './entry-reader.js';
import type { ReadAnswer, ReadRequest, ThreadData } from './entry-threads.js';
import { SYSTEM_CALLS } from './file-calls.js';

/*
 * A thread that looks at files: all that can wait for a disk or a server happens here, so that the loop of the daemon
 * goes on whatever a file system does.
 */
const { limits, stop } = workerData as ThreadData;
const flag = new Int32Array(stop);
const stopped = (): boolean => Atomics.load(flag, 0) !== 0;
const reader = new EntryReader(limits, SYSTEM_CALLS, stopped);

parentPort?.on('message', ({ id, paths, hashes, known }: ReadRequest) => {
  const answer: ReadAnswer = {
    id,
    outcomes: paths.map((path, index) =>
      stopped() ? { kind: 'skipped', reason: 'stopped' } : reader.read(path, hashes, known?.[index]),
    ),
  };
  parentPort?.postMessage(answer);
});
