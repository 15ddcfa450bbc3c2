import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Most bytes of a datagram over IPv4. */
export const MAX_DATAGRAM_BYTES = 65_507;
/**
 * Datagrams sent in a row, and in a second: receivers have small buffers, and what does not fit is lost without a word.
 */
const BURST = 64;
const A_SECOND = 20_000;
const BURST_MS = (1000 / A_SECOND) * BURST;
/** How long a host has to say that nobody listens there, milliseconds. */
const REFUSAL_MS = 20;

/**
 * Sends messages as datagrams. Where a host answers that nobody listens, that is an error; a datagram that is lost on the
 * way is not noticed by anybody.
 * @throws Error of the system
 */
export async function sendDatagrams(
  host: string,
  port: number,
  messages: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { address, family } = await lookup(host);
  signal.throwIfAborted();
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  let refusal: Error | undefined;
  socket.on('error', (error) => {
    refusal ??= error;
  });
  try {
    const connected = once(socket, 'connect', { signal });
    socket.connect(port, address);
    await connected;
    let next = performance.now() + BURST_MS;
    for (const [i, message] of messages.entries()) {
      if (refusal !== undefined) break;
      if (i > 0 && i % BURST === 0) {
        const wait = next - performance.now();
        if (wait > 0) await delay(wait, undefined, { signal });
        // A timer that is late is made up for by a burst, no more.
        next = Math.max(next, performance.now() - BURST_MS) + BURST_MS;
      }
      await send(socket, Buffer.from(message));
    }
    if (refusal === undefined) await delay(REFUSAL_MS, undefined, { signal });
    if (refusal !== undefined) throw refusal as Error;
  } finally {
    socket.close();
  }
}

function send(socket: Socket, message: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(message, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}
