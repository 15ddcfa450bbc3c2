import { parentPort, workerData } from 'node:worker_threads';
import { Counters } from '../../../daemons/analysisd/counters.js';
import { takeSlot } from '../../../daemons/analysisd/threads/serve-analysis.js';
import {
  FIRST_SLOT,
  type ThreadOrder,
  type ThreadStart,
  type ThreadWord,
} from '../../../daemons/analysisd/threads/thread-words.js';
import { Unit } from '../../../daemons/analysisd/threads/units.js';
import { RecordedResults } from './recorded-results.js';

/** In place of a thread of the analysis: says what one recorded, without any work. It asks nothing. */
if (parentPort === null) throw new Error('not in a thread');
const port = parentPort;
const start = workerData as ThreadStart;
const recorded = new RecordedResults(start.number);
const counters = new Counters(0);
const say = (word: ThreadWord): void => {
  port.postMessage(word);
};

function give(unit: Unit): void {
  let memory = takeSlot(start);
  let events = 0;
  const handOn = (): void => {
    const { slot, count, bytes, own } = memory;
    const chunk = { events, slot, filled: { count, bytes }, own, counted: counters.takeDelta() };
    say({ kind: 'results', chunk });
  };
  for (const { agent } of unit.eventsOf(start.number)) {
    recorded.put(memory);
    events += 1;
    if (agent !== undefined) counters.agents.of(agent.id).received += 1;
    if (!memory.isFull) continue;
    handOn();
    memory = takeSlot(start);
    events = 0;
  }
  // A slot without results is none to hand on.
  if (events > 0) handOn();
  else if (memory.slot !== undefined) Atomics.store(start.control, FIRST_SLOT + memory.slot, 0);
}

port.on('message', (order: ThreadOrder) => {
  switch (order.kind) {
    case 'configure':
      say({ kind: 'configured' });
      break;
    case 'restore':
      break;
    case 'forget-agent':
      say({ kind: 'forgotten' });
      return;
    case 'unit':
      give(new Unit(order.unit));
      return;
    case 'capture':
      say({ kind: 'captured', part: { layout: { lists: [], evicted: 0, nextSweep: 0 }, events: [], count: 0 } });
  }
});
