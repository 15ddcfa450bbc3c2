const LINE_FEED = 0x0a;
/** A line is examined in pieces of this size. */
const PIECE_BYTES = 65_536;

/**
 * Whether a file is none that agents can take: a piece of at most 65,536 bytes that a line feed ends holds a zero byte. A
 * last line without line feed is not examined (agents-and-groups.md 6.4).
 */
export function looksBinary(content: Buffer): boolean {
  let zero = content.indexOf(0);
  for (let at = 0; zero >= 0 && at < content.length;) {
    const feed = content.indexOf(LINE_FEED, at);
    if (feed < 0) return false;
    // Pieces before the last one of a line do not end with a line feed.
    const start = at + Math.floor((feed - at) / PIECE_BYTES) * PIECE_BYTES;
    if (zero < start) zero = content.indexOf(0, start);
    if (zero >= start && zero < feed) return true;
    at = feed + 1;
  }
  return false;
}
