/**
 * Where a text stops being JSON: the offset of the first character that cannot stand there, or the length when the text
 * ends too early. JavaScript names the offset in some of its messages only, so it is searched among the prefixes.
 */
export function jsonErrorOffset(text: string): number {
  let good = 0;
  let bad = text.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isPrefix(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

/** Whether a text can be continued to JSON, or is JSON. */
function isPrefix(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const position = /at position (\d+)/.exec(message)?.[1];
    if (position !== undefined) return Number(position) >= text.length;
    return message.startsWith('Unexpected end') || message.startsWith('Unterminated');
  }
}
