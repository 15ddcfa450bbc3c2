import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { AnalysisWorker } from './analysis-worker.js';
import { ResultMemory } from './result-memory.js';
import {
  ANSWERED,
  FIRST_SLOT,
  KEYS_FULL,
  type ThreadOrder,
  type ThreadStart,
  type ThreadWord,
} from './thread-words.js';

/** Thread of svc-analysisd that analyses the events of some agents (`analysis-threads.ts` is its other side). */
const { number, control, answers, slots } = workerData as ThreadStart;
const port = parentPort;
if (port === null) throw new Error('not in a thread');

const worker = new AnalysisWorker(number, {
  say: (word: ThreadWord) => {
    port.postMessage(word);
  },
  waitForAnswer: () => {
    for (;;) {
      const seen = Atomics.load(control, ANSWERED);
      const answer = receiveMessageOnPort(answers) as { readonly message: unknown } | undefined;
      if (answer !== undefined) return answer.message;
      Atomics.wait(control, ANSWERED, seen);
    }
  },
  takeSlot: () => {
    for (const [slot, memory] of slots.entries()) {
      if (Atomics.compareExchange(control, FIRST_SLOT + slot, 0, 1) === 0) return new ResultMemory(slot, memory);
    }
    return new ResultMemory();
  },
  keepsKeys: () => Atomics.load(control, KEYS_FULL) === 0,
});
port.on('message', (order: ThreadOrder) => {
  worker.obey(order);
});
