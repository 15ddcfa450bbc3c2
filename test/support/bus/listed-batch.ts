import type { EventBatch, EventCursor, ReceivedEvent } from '../../../lib/bus/bus-event.js';
import { encodeEventBatch } from '../../../lib/journal/event-batch.js';

/** Events as the sink would hand them on. */
export function listedBatch(events: readonly ReceivedEvent[]): EventBatch {
  return {
    count: events.length,
    bytes: events.reduce((sum, { message }) => sum + message.length, 0),
    positions: new Map(events.map(({ stream, sequence }) => [stream, sequence])),
    events,
    cursors: () => [listCursor(events)],
  };
}

/** Events as the journal has them. */
export function encodeEvents(events: readonly ReceivedEvent[]): Buffer {
  return encodeEventBatch(listedBatch(events)).payload;
}

function listCursor(events: readonly ReceivedEvent[]): EventCursor {
  let index = -1;
  const event = (): ReceivedEvent => {
    const at = events[index];
    if (at === undefined) throw new Error('the cursor is at no event');
    return at;
  };
  const fields = {
    source: (at: ReceivedEvent) => ({ queue: at.queue, location: at.location, agent: at.agent }),
    stream: (at: ReceivedEvent) => at.stream,
    sequence: (at: ReceivedEvent) => at.sequence,
    receivedAt: (at: ReceivedEvent) => at.receivedAt,
    idempotency: (at: ReceivedEvent) => at.idempotency,
    bytes: (at: ReceivedEvent) => at.message,
    from: () => 0,
    to: (at: ReceivedEvent) => at.message.length,
  };
  const cursor = {
    next: (): boolean => {
      index += 1;
      return index < events.length;
    },
  };
  for (const [name, read] of Object.entries(fields)) Object.defineProperty(cursor, name, { get: () => read(event()) });
  return cursor as EventCursor;
}
