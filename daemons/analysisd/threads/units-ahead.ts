import { MAX_GROUP_EVENTS } from '../../../lib/bus/bus-limits.js';

/** Events that go to the threads together, for each of them: a message to a thread costs as much as some events. */
export const EVENTS_PER_THREAD = 512;
/** Bytes of records at which a unit goes, however few events it has, and which are in it at most before one more record. */
export const BYTES_PER_THREAD = 512 * 1024;
/** Units on their way: what threads have in hand, so that one may be ahead of another, and what a checkpoint waits for. */
export const UNITS_AHEAD = 6;

/** Events that can be on their way at most: units, the one that is being filled, and the record that goes in last. */
export function mostEventsAhead(threads: number): number {
  return (UNITS_AHEAD + 1) * EVENTS_PER_THREAD * threads + MAX_GROUP_EVENTS;
}
