import { parentPort, workerData } from 'node:worker_threads';
import { serveAnalysis } from '../../../daemons/analysisd/threads/serve-analysis.js';
import type { ThreadStart } from '../../../daemons/analysisd/threads/thread-words.js';

/** A thread of the analysis that ends in the middle of its work, with results that it has said and others that it has not. */
if (parentPort === null) throw new Error('not in a thread');
let words = 0;
serveAnalysis(workerData as ThreadStart, parentPort, ({ kind }) => {
  if (kind === 'results') words += 1;
  if (words === 3) process.exit(0);
});
