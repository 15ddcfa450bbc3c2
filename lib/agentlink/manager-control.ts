import { CONTROL_HEADER } from './control-text.js';
import { isRequestAck, parseRequestText } from './request-text.js';

/** A control message from a manager, as an agent reads it (agents-and-groups.md 4.5). */
export type ManagerControl =
  | { readonly kind: 'ack' }
  /** The startup was rejected. */
  | { readonly kind: 'error'; readonly message: string }
  /** Content of a file follows. */
  | { readonly kind: 'push_start'; readonly md5: string; readonly name: string }
  | { readonly kind: 'push_end' }
  /** Order for the execution daemon. */
  | { readonly kind: 'execd'; readonly text: string }
  /**
   * For the integrity daemon, the inventory and the policies: the whole text after the header, a byte string (one char
   * code 0..255 a byte), since paths need not be UTF-8.
   */
  | { readonly kind: 'syscheck' | 'inventory' | 'policies'; readonly text: string }
  | { readonly kind: 'force_reconnect' }
  /** To be answered with the same counter. `target` is the part of the agent it is for. */
  | { readonly kind: 'request'; readonly counter: string; readonly target: string; readonly payload: Buffer }
  /** An answer has come (UDP only). */
  | { readonly kind: 'request_ack'; readonly counter: string }
  | { readonly kind: 'unknown' };

const UNKNOWN: ManagerControl = { kind: 'unknown' };
/** Words a text begins with, and what it is then for. */
const FORWARDED: readonly [word: string, kind: 'syscheck' | 'inventory' | 'policies'][] = [
  ['syscheck ', 'syscheck'],
  ['fim_file ', 'syscheck'],
  ['fim_registry ', 'syscheck'],
  ['fim_registry_key ', 'syscheck'],
  ['fim_registry_value ', 'syscheck'],
  ['syscollector_', 'inventory'],
  ['sca-dump', 'policies'],
];

/** Reads a control message of a manager. @param payload one for which `isControl` is true */
export function parseManagerControl(payload: Buffer): ManagerControl {
  const bytes = payload.subarray(CONTROL_HEADER.length);
  const text = bytes.toString('utf8');
  if (text === 'agent ack ') return { kind: 'ack' };
  if (text.startsWith('execd ')) return { kind: 'execd', text: text.slice('execd '.length) };
  if (text.startsWith('req ')) return parseRequest(bytes.subarray('req '.length));
  if (text.startsWith('err ')) return parseError(text.slice('err '.length));
  if (text.startsWith('up file ')) return parsePushStart(text.slice('up file '.length));
  if (text.startsWith('close file ')) return { kind: 'push_end' };
  if (text === 'force_reconnect') return { kind: 'force_reconnect' };
  const forwarded = FORWARDED.find(([word]) => text.startsWith(word));
  return forwarded === undefined ? UNKNOWN : { kind: forwarded[1], text: bytes.toString('latin1') };
}

/** Whether the file that is being pushed goes on after this message: all others end it (4.4). */
export function keepsPushOpen({ kind }: ManagerControl): boolean {
  return kind !== 'error' && kind !== 'push_start' && kind !== 'push_end' && kind !== 'unknown';
}

function parseRequest(bytes: Buffer): ManagerControl {
  const request = parseRequestText(bytes);
  if (request === undefined) return UNKNOWN;
  const { counter, payload } = request;
  if (isRequestAck(payload)) return { kind: 'request_ack', counter };
  const end = payload.indexOf(' ');
  const target = end < 0 ? payload.length : end;
  if (target === 0) return UNKNOWN;
  return {
    kind: 'request',
    counter,
    target: payload.toString('utf8', 0, target),
    payload: payload.subarray(target + 1),
  };
}

function parseError(json: string): ManagerControl {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string') {
      return { kind: 'error', message: value.message };
    }
  } catch {
    // Told apart below: a rejection in words that cannot be read is a rejection all the same.
  }
  return { kind: 'error', message: '' };
}

function parsePushStart(text: string): ManagerControl {
  const found = /^([0-9a-f]{32}) ([^\n]{1,255})\n?$/.exec(text);
  return found === null ? UNKNOWN : { kind: 'push_start', md5: found[1] ?? '', name: found[2] ?? '' };
}
