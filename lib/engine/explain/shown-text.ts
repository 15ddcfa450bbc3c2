import { fromByteString } from '../byte-string.js';

/** Bytes of a text that an explanation shows. */
const MAX_SHOWN = 200;

/** A byte string as text for people, cut. */
export function shownText(bytes: string): string {
  return bytes.length <= MAX_SHOWN ? fromByteString(bytes) : `${fromByteString(bytes.slice(0, MAX_SHOWN))}...`;
}
