/** Bytes of a file that are looked through: what is larger is no configuration, and may be made to fill a scan's time. */
export const MOST_FILE_BYTES = 16 * 1024 * 1024;
/** Bytes of all files that one rule looks through. */
export const MOST_RULE_BYTES = 256 * 1024 * 1024;
/** Bytes of a line that are compared with a pattern, the longest that patterns are made for; what is behind is not seen. */
export const MOST_LINE_BYTES = 65_536;
/** Names that a `d:` rule goes through. */
export const MOST_ENTRIES = 200_000;
/** Depth of directories below that of a `d:` rule: bind mounts can make a tree endless. */
export const MOST_DEPTH = 64;
/** Lines of a command's output that are looked at (integrity-and-inventory.md 10.3). */
export const MOST_OUTPUT_LINES = 256;
