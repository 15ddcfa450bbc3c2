import { blake2b } from '@noble/hashes/blake2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { jsonText } from '../http/json-text.js';

/** Bytes of the hash (rest-api.md 2.2). */
const HASH_BYTES = 16;

/** What the access log calls an authorization context by: BLAKE2b-128 of its JSON, hexadecimal (rest-api.md 1.7, 2.2). */
export function contextHash(context: Readonly<Record<string, unknown>>): string {
  return bytesToHex(blake2b(new TextEncoder().encode(jsonText(context, false)), { dkLen: HASH_BYTES }));
}
