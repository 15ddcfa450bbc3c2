import type { EventBatch } from '../bus/bus-event.js';

/** The place events are safe in: the sink acknowledges a batch when `append` has resolved (design.md 4 "Events"). */
export interface EventJournal {
  /**
   * Appends a batch with its stream positions, whole or not at all. Called again only after it has settled.
   * @throws when the batch was not kept; the same events then come again
   */
  append(batch: EventBatch): Promise<void>;
}
