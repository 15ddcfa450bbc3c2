import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { FrameDecoder } from '../../lib/agentlink/frame-decoder.js';
import { normalizeAddress } from '../../lib/network/agent-address.js';
import type { ServerConfig } from './agentd-settings.js';

/** Time to reach a manager over TCP. */
const CONNECT_MS = 10_000;

/** How long what waits to be sent may delay a close. */
const LINGER_MS = 1000;

/** A manager that has ended its side reads for some seconds what this one had still to send. */
const LAST_WORDS_MS = 5000;

/** What a transport tells. */
export type TransportEvents = {
  /** A whole message came; it is to be used at once. */
  readonly message: (message: Buffer) => void;
  /** It is gone, by itself or by `close`. Told once. */
  readonly closed: (reason: string) => void;
};

/** The way to a manager. */
export interface Transport {
  /** Whether what is sent may be lost without notice: UDP. */
  readonly lossy: boolean;
  /** Address this host is seen with; undefined when not known. */
  readonly localAddress: string | undefined;
  /** Whether more should not be sent before `drained`. */
  readonly full: boolean;
  /** @param bytes a sealed message, with its length over TCP */
  send(bytes: Buffer): void;
  /** Resolves when more may be sent, or the transport is gone. */
  drained(): Promise<void>;
  /** Sends what waits and closes. */
  close(): void;
}

/** The address of a host. @throws Error */
export async function resolveHost(host: string): Promise<string> {
  return (await lookup(host)).address;
}

/** Connects. @throws Error whose message says why not */
export function openTransport(server: ServerConfig, address: string, events: TransportEvents): Promise<Transport> {
  return server.protocol === 'tcp' ? openTcp(server.port, address, events) : openUdp(server.port, address, events);
}

function openTcp(port: number, host: string, events: TransportEvents): Promise<Transport> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    const decoder = new FrameDecoder();
    let reason = 'the manager closed the connection';
    let open = false;
    let told = false;
    const late = setTimeout(() => {
      socket.destroy(new Error('timed out'));
    }, CONNECT_MS);
    const over = (): void => {
      if (told) return;
      told = true;
      clearTimeout(late);
      if (open) events.closed(reason);
      else reject(new Error(reason));
    };
    socket.once('connect', () => {
      open = true;
      clearTimeout(late);
      resolve({
        lossy: false,
        localAddress: socket.localAddress === undefined ? undefined : normalizeAddress(socket.localAddress),
        get full() {
          return socket.writableNeedDrain;
        },
        send: (bytes) => socket.write(bytes),
        drained: () =>
          new Promise((drained) => {
            if (!socket.writableNeedDrain || socket.destroyed) return drained();
            socket.once('drain', drained);
            socket.once('close', drained);
          }),
        close: () => {
          socket.destroySoon();
          // A peer that does not read would keep it, and those who wait for room, for ever.
          setTimeout(() => socket.destroy(), LINGER_MS).unref();
        },
      });
    });
    socket.on('data', (chunk: Buffer) => {
      decoder.push(chunk);
      try {
        for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) events.message(frame);
      } catch (error) {
        socket.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.on('error', (error) => {
      reason = error.message;
    });
    // The manager has ended its side. What it was sent is on its way to it; what were sent from now on would be lost.
    socket.once('end', () => {
      over();
      setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref();
    });
    socket.once('close', over);
  });
}

function openUdp(port: number, host: string, events: TransportEvents): Promise<Transport> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    let reason = 'the socket was closed';
    let open = false;
    let closed = false;
    const close = (): void => {
      if (closed) return;
      closed = true;
      socket.close();
    };
    socket.on('message', events.message);
    socket.on('error', (error) => {
      reason = error.message;
      close();
    });
    socket.once('close', () => {
      if (open) events.closed(reason);
      else reject(new Error(reason));
    });
    // Not the callback of `connect`: a failure would go to it instead of to 'error'.
    socket.once('connect', () => {
      open = true;
      resolve({
        lossy: true,
        localAddress: normalizeAddress(socket.address().address),
        full: false,
        // Nobody listens there at the moment, or the network is full: datagrams have no other answer.
        send: (bytes) => {
          if (!closed) socket.send(bytes, () => {});
        },
        drained: () => Promise.resolve(),
        // Sending takes a turn of the event loop.
        close: () => setImmediate(close),
      });
    });
    socket.connect(port, host);
  });
}
