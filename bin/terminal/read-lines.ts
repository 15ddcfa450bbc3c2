const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * Lines of a stream as byte strings, without their ends (`\n` or `\r\n`). Nothing else ends a line: a log may hold a lone
 * `\r`, and JSON a U+2028.
 */
export async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let pending: Buffer[] = [];
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      pending.push(chunk.subarray(start, end));
      start = end + 1;
      yield lineOf(pending);
      pending = [];
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
  if (pending.length > 0) yield lineOf(pending);
}

function lineOf(parts: readonly Buffer[]): string {
  const line = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  return line.toString('latin1', 0, line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length);
}
