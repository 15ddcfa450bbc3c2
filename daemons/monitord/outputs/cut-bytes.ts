/**
 * A text of at most so many bytes of UTF-8; no character is cut in two.
 * @param mark stands at the end of what was cut, within the limit
 */
export function cutBytes(text: string, maxBytes: number, mark = ''): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = maxBytes - Buffer.byteLength(mark);
  // A byte 10xxxxxx goes on with the character before it.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + mark;
}
