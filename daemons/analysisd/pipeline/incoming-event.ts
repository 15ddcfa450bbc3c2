import type { BusEvent } from '../../../lib/bus/bus-event.js';
import { toByteString } from '../../../lib/engine/byte-string.js';
import type { EventOrigin, IncomingEvent } from '../../../lib/engine/event.js';
import { readLocation } from '../../../lib/engine/predecode/read-location.js';

/** The event as the engine takes it. */
export function incomingEvent(event: BusEvent): IncomingEvent {
  const { location, agent } = originOf(event);
  const labels = event.agent?.labels;
  return {
    queue: event.queue,
    location,
    agent,
    message: event.message.toString('latin1'),
    receivedAt: event.receivedAt,
    labels: labels === undefined ? undefined : toByteLabels(labels),
  };
}

/** Agents are known by name; a location of the manager's own may look like an agent's and then counts as one (decoding.md 3.2). */
function originOf({ agent, location }: BusEvent): EventOrigin {
  if (agent === undefined) return readLocation(location);
  const name = toByteString(agent.name);
  return { location: `(${name}) ${toByteString(agent.ip)}->${location}`, agent: { id: agent.id, name } };
}

/** Labels as the engine takes them: the same map in the usual case that all of them are ASCII. */
function toByteLabels(labels: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  for (const [name, value] of labels) {
    if (toByteString(name) === name && toByteString(value) === value) continue;
    return new Map([...labels].map(([key, text]) => [toByteString(key), toByteString(text)]));
  }
  return labels;
}
