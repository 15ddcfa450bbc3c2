import { createSocket } from 'node:dgram';
import { closeSync, openSync, readSync } from 'node:fs';
import { connect, createServer } from 'node:net';

/** Protocols whose ports are tried. */
export type PortProtocol = 'tcp' | 'udp';

/** What the system says of ports, so that tests can let a rootkit change it. */
export interface PortCalls {
  /** Tries to bind a port on all addresses, and gives it back at once. */
  bind(protocol: PortProtocol, port: number): Promise<'free' | 'used' | 'unknown'>;
  /** Local ports that the system lists, of connections too; undefined where it lists none at all. */
  listed(protocol: PortProtocol): ReadonlySet<number> | undefined;
  /** Whether something answers on a TCP port of this host. */
  answers(port: number): Promise<boolean>;
}

const ANY_V6 = '::';
const ANY_V4 = '0.0.0.0';
const LOOPBACKS = ['127.0.0.1', '::1'];
const ANSWER_MS = 2000;
const CHUNK_BYTES = 256 * 1024;
/** Longest line of /proc/net: they have some 150 characters. */
const MOST_LINE = 4096;

/** Those of the system. */
export class SystemPorts implements PortCalls {
  /** `::` stands for the addresses of both families; a host without IPv6 has the other. */
  #any: string | undefined;

  async bind(protocol: PortProtocol, port: number): Promise<'free' | 'used' | 'unknown'> {
    this.#any ??= (await bindTcp(0, ANY_V6)) === undefined ? ANY_V6 : ANY_V4;
    const code = protocol === 'tcp' ? await bindTcp(port, this.#any) : await bindUdp(port, this.#any);
    if (code === undefined) return 'free';
    return code === 'EADDRINUSE' ? 'used' : 'unknown';
  }

  listed(protocol: PortProtocol): ReadonlySet<number> | undefined {
    const ports = new Set<number>();
    const isRead = addLocalPorts(`/proc/net/${protocol}`, ports);
    const isRead6 = addLocalPorts(`/proc/net/${protocol}6`, ports);
    return isRead || isRead6 ? ports : undefined;
  }

  async answers(port: number): Promise<boolean> {
    for (const host of LOOPBACKS) if (await answers(port, host)) return true;
    return false;
  }
}

/** @returns the code of the error; undefined when the port was free */
function bindTcp(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? 'unknown');
    });
    server.listen({ port, host, backlog: 1, exclusive: true }, () => {
      server.close(() => {
        resolve(undefined);
      });
    });
  });
}

function bindUdp(port: number, address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket({ type: address === ANY_V6 ? 'udp6' : 'udp4' });
    const end = (code: string | undefined): void => {
      socket.close(() => {
        resolve(code);
      });
    };
    socket.once('error', (error: NodeJS.ErrnoException) => {
      end(error.code ?? 'unknown');
    });
    socket.bind({ port, address, exclusive: true }, () => {
      end(undefined);
    });
  });
}

function answers(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ANSWER_MS, () => {
      end(true);
    });
    socket.once('connect', () => {
      end(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      end(error.code === 'ECONNRESET');
    });
  });
}

/** Adds the local ports of a table of /proc/net. @returns whether there is such a table */
function addLocalPorts(path: string, ports: Set<number>): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch {
    return false;
  }
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let rest = '';
    for (;;) {
      const read = readSync(descriptor, chunk, 0, chunk.length, null);
      if (read === 0) return true;
      const lines = (rest + chunk.toString('latin1', 0, read)).split('\n');
      rest = lines.pop()?.slice(0, MOST_LINE) ?? '';
      for (const line of lines) {
        const port = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) /.exec(line)?.[1];
        if (port !== undefined) ports.add(parseInt(port, 16));
      }
    }
  } catch {
    return false;
  } finally {
    closeSync(descriptor);
  }
}
