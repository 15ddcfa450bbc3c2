const MAX_COUNTER_CHARS = 16;
const SPACE = 0x20;
const ACK = 'ack';

/** What follows `#!-req `: the counter that ties an answer to its request, and the rest as it came. */
export type RequestText = { readonly counter: string; readonly payload: Buffer };

/**
 * Reads what follows `req ` in a control message (agents-and-groups.md 4.5).
 * @returns undefined unless it begins with a counter in hex and a space
 */
export function parseRequestText(bytes: Buffer): RequestText | undefined {
  const end = bytes.subarray(0, MAX_COUNTER_CHARS + 1).indexOf(SPACE);
  const counter = bytes.toString('latin1', 0, Math.max(0, end));
  return /^[0-9a-fA-F]+$/.test(counter) ? { counter, payload: bytes.subarray(end + 1) } : undefined;
}

/** Whether the payload says only that the other message has come. */
export function isRequestAck(payload: Buffer): boolean {
  return payload.length === ACK.length && payload.toString('latin1') === ACK;
}
