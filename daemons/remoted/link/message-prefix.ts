import { COLON, FILL } from '../../../lib/agentlink/message-form.js';

/** What a message shows before it is decrypted (agents-and-groups.md 3.5, steps 2 and 3). */
export type MessageHead =
  /** Of the agent with this id; `body` is what follows the prefix. */
  | { readonly kind: 'prefixed'; readonly id: string; readonly body: Buffer }
  /** Of the agent at the source address. */
  | { readonly kind: 'bare'; readonly body: Buffer }
  /** A probe, to be answered with `PONG`. */
  | { readonly kind: 'ping' }
  /** The id is not closed, or is none. */
  | { readonly kind: 'malformed' };

/** Answer to a probe. */
export const PONG = Buffer.from('#pong', 'latin1');

const PING = '#ping';
/** Ids have at most this many digits (1.1). */
const MAX_ID_DIGITS = 8;
const MALFORMED: MessageHead = { kind: 'malformed' };
const IS_PING: MessageHead = { kind: 'ping' };

/** Reads the head of a frame or datagram; `body` shares its memory. */
export function readMessageHead(message: Buffer): MessageHead {
  if (message[0] !== FILL) {
    const ping =
      message.length >= PING.length && message[0] !== COLON && message.toString('latin1', 0, PING.length) === PING;
    return ping ? IS_PING : { kind: 'bare', body: message };
  }
  let at = 1;
  while (at <= MAX_ID_DIGITS && isDigit(message[at])) at += 1;
  if (at === 1 || message[at] !== FILL) return MALFORMED;
  return { kind: 'prefixed', id: message.toString('latin1', 1, at), body: message.subarray(at + 1) };
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
