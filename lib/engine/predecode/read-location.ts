import type { EngineEvent, EventOrigin } from '../event.js';

/**
 * Reads the text of a location, such as somebody typed or a local event carries: `[<agent id>] (<name>) <ip>->...` is an
 * agent's, everything else the manager's own (decoding.md 3.2). A text that begins with `[` but has no `]` stays as it
 * is and without an agent: the engine refuses it with error 1106.
 *
 * @param text unescaped byte string
 */
export function readLocation(text: string): EventOrigin {
  if (text.charCodeAt(0) !== 0x5b) return { location: text, agent: undefined };
  const end = text.indexOf(']');
  if (end < 0) return { location: text, agent: undefined };
  // The byte after `]` is skipped whatever it is.
  const location = text.slice(end + 2);
  const close = location.charCodeAt(0) === 0x28 ? location.indexOf(')') : -1;
  return { location, agent: { id: text.slice(1, end), name: close > 0 ? location.slice(1, close) : '' } };
}

/** Whether the location of an event begins like an agent's and could not be read as one: nobody can say whose event it is. */
export function isUnreadable({ location, fromAgent }: EngineEvent): boolean {
  return !fromAgent && location.charCodeAt(0) === 0x5b;
}
