import { EVENTS_PER_THREAD, UNITS_AHEAD } from '../../../daemons/analysisd/threads/units-ahead.js';
import { shardOf } from '../../../lib/engine/correlate/correlation-snapshot.js';
import { randomOf } from './random-of.js';

/** Microseconds for each event. */
export type ThreadCosts = {
  /** With one thread, everything. */
  readonly one: number;
  /** In a thread, beside the main one. */
  readonly thread: number;
  /** In the main thread: reading the journal, handing events out, bringing results into order, writing. */
  readonly main: number;
};

const SHARDS = 64;
const UNITS = 400;
const COUNTS = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64];
/** Of the work of the main thread, what it does before threads get an event. */
const DISPATCH = 0.4;

/**
 * Events a second, in virtual time: agents take turns at random, units go to threads by shard, the main thread hands units out
 * while there are few on their way and else brings the first one that is done into order. No thread waits for a core.
 */
export function modelRate(costs: ThreadCosts, threads: number, agents: number): number {
  const random = randomOf(1);
  const owners = Array.from(
    { length: agents },
    (_, agent) => shardOf(String(agent + 1).padStart(3, '0'), SHARDS) % threads,
  );
  const size = EVENTS_PER_THREAD * threads;
  const free = new Float64Array(threads);
  const done: number[] = [];
  let main = 0;
  let committed = 0;
  while (committed < UNITS) {
    const [first] = done;
    if (done.length < UNITS_AHEAD && (first === undefined || first > main || done.length === 0)) {
      main += size * costs.main * DISPATCH;
      const events = new Uint32Array(threads);
      for (let event = 0; event < size; event += 1) {
        const owner = owners[random(agents)] ?? 0;
        events[owner] = (events[owner] ?? 0) + 1;
      }
      let end = main;
      events.forEach((count, thread) => {
        free[thread] = Math.max(free[thread] ?? 0, main) + count * costs.thread;
        if (count > 0) end = Math.max(end, free[thread] ?? 0);
      });
      done.push(end);
    } else {
      done.shift();
      main = Math.max(main, first ?? 0) + size * costs.main * (1 - DISPATCH);
      committed += 1;
    }
  }
  return (UNITS * size * 1e6) / main;
}

/** What the model says of more and more threads, a line each. A core is the main thread's. */
export function modelLines(costs: ThreadCosts, agents: number): string[] {
  const alone = 1e6 / costs.one;
  return COUNTS.map((threads) => {
    const [rate, evenly] = [modelRate(costs, threads, agents), modelRate(costs, threads, 100_000)];
    const times = (value: number): string =>
      `${String(Math.round(value)).padStart(8)} events/s, ${(value / alone).toFixed(1).padStart(5)} times one`;
    return `${String(threads).padStart(3)} threads, ${String(threads + 1).padStart(2)} cores: ${times(rate)}; with many agents ${times(evenly)}`;
  });
}
