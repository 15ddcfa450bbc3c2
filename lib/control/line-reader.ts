import type { Socket } from 'node:net';
import { MAX_LINE_BYTES } from './control-protocol.js';

/**
 * Calls `onLine` for each line a socket brings, in order.
 * @param onTooLong called once when a line is over the limit; nothing is read after it
 */
export function readLines(socket: Socket, onLine: (line: string) => void, onTooLong: () => void): void {
  let pending: Buffer = Buffer.alloc(0);
  let refused = false;
  socket.on('data', (chunk: Buffer) => {
    if (refused) return;
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (let end = pending.indexOf(10); end >= 0; end = pending.indexOf(10)) {
      const line = pending.toString('utf8', 0, end);
      pending = pending.subarray(end + 1);
      onLine(line);
    }
    if (pending.length > MAX_LINE_BYTES) {
      refused = true;
      onTooLong();
    }
  });
}
