import { appendFileSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { ResultMemory, SLOT_BYTES } from '../../../daemons/analysisd/threads/result-memory.js';
import { serveAnalysis } from '../../../daemons/analysisd/threads/serve-analysis.js';
import type { ThreadStart } from '../../../daemons/analysisd/threads/thread-words.js';
import { encodeResults, recordingPath } from './recorded-results.js';

/** A thread of the analysis that also records what it makes of events. */
if (parentPort === null) throw new Error('not in a thread');
const start = workerData as ThreadStart;
const path = recordingPath(start.number);
writeFileSync(path, '');
serveAnalysis(start, parentPort, (word) => {
  if (word.kind !== 'results') return;
  const { events, slot, filled, own } = word.chunk;
  const { memory: shared, slotsAt } = start;
  const at = slotsAt + (slot ?? 0) * SLOT_BYTES;
  const memory =
    own === undefined ? new ResultMemory({ number: slot ?? 0, memory: shared, at }, filled) : ResultMemory.of(own);
  appendFileSync(path, encodeResults(events, memory));
});
