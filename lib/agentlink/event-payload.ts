import { QUEUE_IDS } from '../events/queue-ids.js';

const COLON = 0x3a;
const BAR = 0x7c;
/** Marks messages inside a manager that have their origin already: no agent may send it. */
const TAGGED_QUEUE = QUEUE_IDS.tagged.charCodeAt(0);
const TEXT_START = 2;
const HIDDEN_LOCATION = 'keepalive';

/** An event of an agent: `<queue>:<location>:<text>` (agents-and-groups.md 5.1). */
export type AgentEvent = {
  /** Queue id, one character. */
  readonly queue: string;
  /** Unescaped, one character a byte. */
  readonly location: string;
  /** The text; shares memory with the payload. */
  readonly message: Buffer;
};

/** `malformed` is to be logged; `ignored` is dropped without a word, as the reference does with locations of keepalives. */
export type EventResult = AgentEvent | 'malformed' | 'ignored';

/** Reads the payload of an agent that is no control message. */
export function parseEventPayload(payload: Buffer): EventResult {
  if (payload[1] !== COLON || payload[0] === TAGGED_QUEUE) return 'malformed';
  let escaped = false;
  let end = TEXT_START;
  for (; end < payload.length && payload[end] !== COLON; end += 1) {
    if (payload[end] !== BAR) continue;
    escaped = true;
    // Whatever a bar escapes, it does not end the location.
    end += 1;
  }
  if (end >= payload.length) return 'malformed';
  const raw = payload.toString('latin1', TEXT_START, end);
  if (raw.startsWith(HIDDEN_LOCATION)) return 'ignored';
  return {
    queue: payload.toString('latin1', 0, 1),
    location: escaped ? unescapeLocation(raw) : raw,
    message: payload.subarray(end + 1),
  };
}

/** Builds the payload of an event. @param location unescaped, one character a byte */
export function buildEventPayload(queue: string, location: string, message: Buffer | string): Buffer {
  return Buffer.concat([Buffer.from(`${queue}:${escapeLocation(location)}:`, 'latin1'), Buffer.from(message)]);
}

/** `|` becomes `||`, and `:` becomes `|:`. */
export function escapeLocation(location: string): string {
  return location.replace(/[|:]/g, '|$&');
}

/** Takes back `escapeLocation` (decoding.md 3.1): what a bar escapes stays, whatever it is, and so does a bar at the end. */
export function unescapeLocation(location: string): string {
  return location.replace(/\|([^])/g, '$1');
}

/** Text of the event by which an agent tells that it has started, or the manager that it was stopped (4.6). */
export function agentStateText(
  change: 'started' | 'stopped',
  agent: { readonly name: string; readonly ip: string },
): string {
  return `ossec: Agent ${change}: '${agent.name}->${agent.ip}'.`;
}
