import { readFileSync } from 'node:fs';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { Home } from '../../../lib/home/home.js';

/** How a client connects; `localAddress` is the one the manager sees. */
type ClientOptions = ConnectionOptions & { readonly localAddress?: string };

/** A client of the enrolment port. It takes any certificate unless told otherwise, as agents do. */
export function connectEnrollment(port: number, options: ClientOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

/** Everything the server says until it closes; what ends the connection otherwise rejects. */
export function readReply(socket: TLSSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(Buffer.concat(chunks).toString('latin1'));
    });
  });
}

/** Sends one request and reads its reply; empty when the server closes without one. */
export async function enrol(port: number, request: string, options: ClientOptions = {}): Promise<string> {
  const socket = await connectEnrollment(port, options);
  const reply = readReply(socket);
  socket.write(request, 'latin1');
  return reply;
}

/** The fields of a reply that gives a key. @throws Error for any other */
export function keyOf(reply: string): { id: string; name: string; ip: string; key: string } {
  const match = /^OSSEC K:'(\d+) (\S+) (\S+) ([0-9a-f]{64})'$/.exec(reply);
  if (match === null) throw new Error(`no key: ${reply}`);
  const [, id = '', name = '', ip = '', key = ''] = match;
  return { id, name, ip, key };
}

/** Lines of the key file. */
export function keyLines(home: Home): string[] {
  return readFileSync(home.path('etc', 'client.keys'), 'latin1').split('\n').slice(0, -1);
}
