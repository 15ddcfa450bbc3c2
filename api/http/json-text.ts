const NON_ASCII = /[\u007f-\uffff]/g;

/**
 * JSON as clients of this API know it (rest-api.md 1.4): one line with `", "` and `": "`, or indented by three blanks;
 * characters outside ASCII escaped.
 */
export function jsonText(value: unknown, pretty: boolean): string {
  const text = pretty
    ? JSON.stringify(value, null, 3)
    : // A line break is always between tokens, never inside a string, so joining the lines is safe.
      JSON.stringify(value, null, 1).replace(/,\n */g, ', ').replace(/\n */g, '');
  return text.replace(NON_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
