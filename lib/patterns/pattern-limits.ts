/** Longest pattern, in bytes (decoding.md 1.2, 1.3). */
export const MAX_PATTERN_BYTES = 20480;
