import type { BusEvent } from '../../../lib/bus/bus-event.js';
import { toByteString } from '../../../lib/engine/byte-string.js';
import type { EventOrigin, IncomingEvent } from '../../../lib/engine/event.js';
import { readLocation } from '../../../lib/engine/predecode/read-location.js';
import { componentOf, type CountedComponent } from '../component.js';

/** Where an event came from. */
type Source = Pick<BusEvent, 'queue' | 'location' | 'agent'>;

/** What the engine and the counters are told of a source of events: the same for all of its events. */
export type PreparedSource = EventOrigin &
  Pick<IncomingEvent, 'queue' | 'labels'> & {
    readonly source: Source;
    readonly component: CountedComponent;
  };

/** Reads where events come from. */
export function prepareSource(source: Source): PreparedSource {
  const { queue } = source;
  const { location, agent } = originOf(source);
  const labels = source.agent?.labels;
  return {
    queue,
    location,
    agent,
    labels: labels === undefined ? undefined : toByteLabels(labels),
    source,
    component: componentOf(queue, source.location),
  };
}

/** An event as the engine takes it. @param message a byte string. @param receivedAt epoch milliseconds */
export function eventFrom(from: PreparedSource, message: string, receivedAt: number): IncomingEvent {
  const { queue, location, agent, labels } = from;
  return { queue, location, agent, message, receivedAt, labels };
}

/** An event of the bus as the engine takes it. */
export function incomingEvent(event: BusEvent): IncomingEvent {
  return eventFrom(prepareSource(event), event.message.toString('latin1'), event.receivedAt);
}

/** Agents are known by name; a location of the manager's own may look like an agent's and then counts as one (decoding.md 3.2). */
function originOf({ agent, location }: Source): EventOrigin {
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
