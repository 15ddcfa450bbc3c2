/** Longest message on the wire, without the length of its frame (agents-and-groups.md 3.1): a peer cannot make us hold more. */
export const MAX_FRAME_BYTES = 65_536;

/** Longest payload that is sealed (3.2): what the other side has room for after the header of 128 bytes. */
export const MAX_PAYLOAD_BYTES = 65_408;

/**
 * Most bytes that a compressed message may grow to. A frame of 64 KiB could hold 64 MiB of zeros; inflating stops here,
 * whatever the stream says.
 */
export const MAX_INFLATED_BYTES = 65_536;

/** Most Blowfish key schedules held at a time (4 KiB each): messages under many ids must not fill the memory. */
export const MAX_BLOWFISH_SCHEDULES = 16_384;

/** Most AES ciphers held at a time (some 1.4 KiB each), for the same reason. */
export const MAX_AES_DECIPHERS = 8192;
