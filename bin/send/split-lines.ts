const NEWLINE = 0x0a;

/** A line of input, without its end; `tooLong` lines are cut to nothing and only counted. */
export type InputLine = { readonly bytes: Buffer; readonly tooLong: boolean };

/**
 * Splits a stream of bytes into lines; the last one need not end.
 * @param maxBytes a longer line is not kept: an input without line ends must not fill the memory
 */
export async function* splitLines(input: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<InputLine> {
  let parts: Buffer[] = [];
  let size = 0;
  const take = (): InputLine => {
    const line =
      size > maxBytes ? { bytes: Buffer.alloc(0), tooLong: true } : { bytes: Buffer.concat(parts), tooLong: false };
    parts = [];
    size = 0;
    return line;
  };
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      size += end - from;
      if (size <= maxBytes) parts.push(chunk.subarray(from, end));
      yield take();
      from = end + 1;
    }
    size += chunk.length - from;
    if (size <= maxBytes) parts.push(chunk.subarray(from));
    else parts = [];
  }
  if (size > 0) yield take();
}
