import type { BusEvent } from '../../../lib/bus/bus-event.js';
import { toByteString } from '../../../lib/engine/byte-string.js';
import type { IncomingEvent } from '../../../lib/engine/event.js';

/** The event as the engine takes it: agents' locations get the form `[id] (name) ip->location` (decoding.md 3.1). */
export function incomingEvent(event: BusEvent): IncomingEvent {
  const { agent } = event;
  return {
    queue: event.queue,
    location:
      agent === undefined
        ? event.location
        : `[${agent.id}] (${toByteString(agent.name)}) ${toByteString(agent.ip)}->${event.location}`,
    message: event.message.toString('latin1'),
    receivedAt: event.receivedAt,
    ...(agent?.labels === undefined ? {} : { labels: toByteLabels(agent.labels) }),
  };
}

/** Labels as the engine takes them: the same map in the usual case that all of them are ASCII. */
function toByteLabels(labels: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  for (const [name, value] of labels) {
    if (toByteString(name) === name && toByteString(value) === value) continue;
    return new Map([...labels].map(([key, text]) => [toByteString(key), toByteString(text)]));
  }
  return labels;
}
