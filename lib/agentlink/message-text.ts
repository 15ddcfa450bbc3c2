import { hash } from 'node:crypto';
import type { CounterPair } from './message-counters.js';
import * as form from './message-form.js';

const RANDOM_DIGITS = 5;

/**
 * Writes the text of a message, which is then compressed (agents-and-groups.md 3.2): digest, random digits, counters and
 * payload.
 * @param text has room for `PAYLOAD_AT` bytes and the payload
 * @param random 0 to 65535
 * @returns where the text ends
 */
export function writeMessageText(
  text: Buffer,
  payload: Buffer | string,
  counters: CounterPair,
  random: number,
): number {
  putDigits(text, form.DIGEST_CHARS, RANDOM_DIGITS, random);
  putDigits(text, form.GLOBAL_AT, form.GLOBAL_DIGITS, counters.global);
  text[form.LOCAL_AT - 1] = form.COLON;
  putDigits(text, form.LOCAL_AT, form.LOCAL_DIGITS, counters.local);
  text[form.PAYLOAD_AT - 1] = form.COLON;
  const bytes =
    typeof payload === 'string' ? text.write(payload, form.PAYLOAD_AT) : payload.copy(text, form.PAYLOAD_AT);
  const end = form.PAYLOAD_AT + bytes;
  text.write(hash('md5', text.subarray(form.DIGEST_CHARS, end), 'hex'), 0, 'latin1');
  return end;
}

function putDigits(text: Buffer, at: number, count: number, value: number): void {
  let rest = value;
  for (let index = at + count - 1; index >= at; index -= 1) {
    const next = Math.floor(rest / 10);
    text[index] = 0x30 + (rest - next * 10);
    rest = next;
  }
}
