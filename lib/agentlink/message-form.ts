/**
 * How a message is encrypted: `aes` and `blowfish` as Wazuh agents do (agents-and-groups.md 3.3), `aes-iv` as
 * OSSEC-HIDS 4.x agents do: the mark of `aes`, and a random IV before the ciphertext (12.1).
 */
export type MessageForm = 'aes' | 'aes-iv' | 'blowfish';

/** Mark before an AES ciphertext. */
export const AES_MARK = '#AES:';

/** Mark before a Blowfish ciphertext. */
export const BLOWFISH_MARK = ':';

/** Fixed IVs of the channel (3.3). */
export const AES_IV = Buffer.from('FEDCBA0987654321', 'latin1');
export const BLOWFISH_IV = Buffer.from('fedcba9876543210', 'hex');

/** Bytes of an AES block. */
export const AES_BLOCK = 16;

/** Places in the text that is compressed (3.2): digest, random digits, counters with their colons, payload. */
export const DIGEST_CHARS = 32;
export const GLOBAL_AT = DIGEST_CHARS + 5;
export const GLOBAL_DIGITS = 10;
export const LOCAL_AT = GLOBAL_AT + GLOBAL_DIGITS + 1;
export const LOCAL_DIGITS = 4;
export const PAYLOAD_AT = LOCAL_AT + LOCAL_DIGITS + 1;

/** Byte that fills a message up to whole blocks of 8; the receiver strips all leading ones. */
export const FILL = 0x21;
export const COLON = 0x3a;
