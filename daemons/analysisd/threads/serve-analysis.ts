import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { AnalysisWorker } from './analysis-worker.js';
import { ResultMemory, SLOT_BYTES } from './result-memory.js';
import {
  ANSWERED,
  FIRST_SLOT,
  KEYS_FULL,
  SLOTS,
  type ThreadOrder,
  type ThreadStart,
  type ThreadWord,
} from './thread-words.js';

/** Memory for results: a slot that is free, or memory of its own. */
export function takeSlot({ control, memory, slotsAt }: ThreadStart): ResultMemory {
  for (let number = 0; number < SLOTS; number += 1) {
    if (Atomics.compareExchange(control, FIRST_SLOT + number, 0, 1) !== 0) continue;
    return new ResultMemory({ number, memory, at: slotsAt + number * SLOT_BYTES });
  }
  return new ResultMemory();
}

/**
 * Analyses in this thread what comes by the port, for as long as it lives.
 * @param onWord told of each word before it is said
 */
export function serveAnalysis(
  start: ThreadStart,
  port: MessagePort,
  onWord: (word: ThreadWord) => void = () => {},
): void {
  const { number, control, answers } = start;
  const worker = new AnalysisWorker(number, {
    say: (word: ThreadWord) => {
      onWord(word);
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
    takeSlot: () => takeSlot(start),
    keepsKeys: () => Atomics.load(control, KEYS_FULL) === 0,
  });
  port.on('message', (order: ThreadOrder) => {
    worker.obey(order);
  });
}
