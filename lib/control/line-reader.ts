import type { Socket } from 'node:net';
import { MAX_LINE_BYTES } from './control-protocol.js';

/**
 * Calls `onLine` for each line a socket brings, in order.
 * @param onTooLong called once when a line is over the limit; nothing is read after it
 * @param long a line that begins so may be longer
 */
export function readLines(
  socket: Socket,
  onLine: (line: string) => void,
  onTooLong: () => void,
  long?: { readonly prefix: string; readonly maxBytes: number },
): void {
  // Pieces of a line without an end yet: a long one comes in hundreds, and is put together once.
  let pieces: Buffer[] = [];
  let length = 0;
  let refused = false;
  const isLong = () =>
    long !== undefined &&
    length <= long.maxBytes &&
    Buffer.concat(pieces.slice(0, 2)).toString('latin1', 0, long.prefix.length) === long.prefix;
  socket.on('data', (chunk: Buffer) => {
    if (refused) return;
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...pieces, rest.subarray(0, end)]).toString('utf8');
      pieces = [];
      length = 0;
      rest = rest.subarray(end + 1);
      onLine(line);
    }
    if (rest.length > 0) pieces.push(rest);
    length += rest.length;
    if (length > MAX_LINE_BYTES && !isLong()) {
      refused = true;
      pieces = [];
      onTooLong();
    }
  });
}
