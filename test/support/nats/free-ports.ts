import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below what the system hands out to connections, so that nobody is given a port of a server that is killed for a while. A server
 * has three: this one, and 2000 and 4000 above it.
 */
const LOWEST = 10_000;
const HIGHEST = 27_000;
const TRIES = 200;

/** Ports of clients of which those for routes and monitoring are free, too, on the loopback address. */
export async function freePortTriples(count: number): Promise<number[]> {
  const found: number[] = [];
  for (let tries = 0; found.length < count && tries < TRIES; tries += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    const triple = [port, port + 2000, port + 4000];
    const taken = found.some((other) => triple.some((one) => (one - other) % 2000 === 0));
    if (!taken && (await areFree(triple))) found.push(port);
  }
  if (found.length < count) throw new Error('no free ports on 127.0.0.1');
  return found;
}

async function areFree(ports: readonly number[]): Promise<boolean> {
  const servers: Server[] = [];
  try {
    for (const port of ports) {
      const server = createServer().listen(port, '127.0.0.1');
      servers.push(server);
      await once(server, 'listening');
    }
    return true;
  } catch {
    return false;
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}
