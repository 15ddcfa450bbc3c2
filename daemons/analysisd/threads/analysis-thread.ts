import { parentPort, workerData } from 'node:worker_threads';
import { serveAnalysis } from './serve-analysis.js';
import type { ThreadStart } from './thread-words.js';

/** Thread of svc-analysisd that analyses the events of some agents (`analysis-threads.ts` is its other side). */
if (parentPort === null) throw new Error('not in a thread');
serveAnalysis(workerData as ThreadStart, parentPort);
