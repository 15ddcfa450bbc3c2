const NON_ASCII = /[\u007f-\uffff]/g;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const BLANK = 0x20;

/**
 * JSON as clients of this API know it (rest-api.md 1.4): one line with `", "` and `": "`, or indented by three blanks;
 * characters outside ASCII escaped.
 */
export function jsonText(value: unknown, pretty: boolean): string {
  return pretty ? escaped(JSON.stringify(value, null, 3)) : jsonLine(value).toString('latin1');
}

/** The one line that {@link jsonText} makes, as it is sent. */
export function jsonLine(value: unknown): Buffer {
  const text = Buffer.from(escaped(JSON.stringify(value)), 'latin1');
  // A blank behind each separator: there cannot be more of them than bytes.
  const line = Buffer.allocUnsafe(2 * text.length);
  const size = text.length;
  let end = 0;
  for (let at = 0; at < size;) {
    const byte = text[at++] ?? 0;
    line[end++] = byte;
    if (byte === COMMA || byte === COLON) {
      line[end++] = BLANK;
    } else if (byte === QUOTE) {
      let inside: number;
      do {
        inside = text[at++] ?? QUOTE;
        line[end++] = inside;
        if (inside === BACKSLASH) line[end++] = text[at++] ?? 0;
      } while (inside !== QUOTE);
    }
  }
  return Buffer.from(line.subarray(0, end));
}

function escaped(text: string): string {
  return text.replace(NON_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
