import type { EngineEvent } from '../event.js';

/**
 * Splits `[<agent id>] ` off the event's location and finds the agent's name in what is left (decoding.md 3.2): sets
 * `agentId`, `location` and, for agents, `hostname`.
 *
 * @returns false when the location begins with `[` but has no `]`: error 1106, the event is to be dropped
 */
export function resolveLocation(event: EngineEvent): boolean {
  const location = event.location;
  if (location.charCodeAt(0) !== 0x5b) {
    return true;
  }
  const end = location.indexOf(']');
  if (end < 0) {
    return false;
  }
  event.agentId = location.slice(1, end);
  // The byte after `]` is skipped whatever it is.
  event.location = location.slice(end + 2);
  event.fromAgent = true;
  event.hostname = '';
  if (event.location.charCodeAt(0) === 0x28) {
    const close = event.location.indexOf(')');
    if (close > 0) {
      event.hostname = event.location.slice(1, close);
    }
  }
  return true;
}
