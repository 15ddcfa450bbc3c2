import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { connectionEntry, endAcknowledged } from './connection-end.js';

export type TcpSyslogTarget = {
  readonly host: string;
  readonly port: number;
  /** With TLS; certificates are verified. */
  readonly tls?: {
    /** Authorities instead of the public ones, PEM. */
    readonly ca?: Buffer;
  };
};

/** Until a connection stands, milliseconds. */
const CONNECT_MS = 10_000;
/** After so much silence the system asks whether the other side is still there. */
const KEEPALIVE_MS = 15_000;

/**
 * Messages on their way over a connection of their own. The receiver has taken them when it has closed the connection after
 * our end of it, and the system had that end acknowledged: over a connection that stays open nobody could tell.
 */
export class TcpFlight {
  /** Messages that it carries; `count` is the caller's own figure. */
  readonly count: number;
  readonly messages: number;
  /** Resolves when the receiver has taken everything. */
  readonly taken: Promise<void>;
  #socket: Socket | undefined;
  /** When everything had been handed to the system, `performance.now()`. */
  #handedAt: number | undefined;
  readonly #given = new AbortController();

  /** Begins at once. */
  constructor(target: TcpSyslogTarget, messages: readonly string[], count: number) {
    this.count = count;
    this.messages = messages.length;
    this.taken = this.#send(target, messages);
    // Whoever waits for it sees the failure, now or at the next try.
    this.taken.catch(() => {});
  }

  /** For how long everything has been in the hands of the system, milliseconds; undefined before. */
  get handedFor(): number | undefined {
    return this.#handedAt === undefined ? undefined : performance.now() - this.#handedAt;
  }

  /** Gives it up. */
  close(): void {
    this.#given.abort();
    this.#socket?.destroy();
  }

  async #send(target: TcpSyslogTarget, messages: readonly string[]): Promise<void> {
    const socket = open(target);
    this.#socket = socket;
    try {
      await once(socket, target.tls === undefined ? 'connect' : 'secureConnect', {
        signal: AbortSignal.any([this.#given.signal, AbortSignal.timeout(CONNECT_MS)]),
      }).catch((error: unknown) => {
        throw error instanceof Error && error.name === 'AbortError' ? new Error('no connection within 10 s') : error;
      });
      socket.setKeepAlive(true, KEEPALIVE_MS);
      const closed = this.#closedInOrder(socket);
      closed.catch(() => {});
      const entry = await connectionEntry(socket);
      for (const message of messages) {
        if (socket.destroyed) break;
        // RFC 6587 3.4.1: the number of bytes, a blank, the message.
        const bytes = Buffer.from(message);
        if (socket.write(Buffer.concat([Buffer.from(`${String(bytes.length)} `), bytes]))) continue;
        await Promise.race([once(socket, 'drain'), closed]);
      }
      socket.end(() => {
        this.#handedAt = performance.now();
      });
      await closed;
      if (entry !== undefined) await endAcknowledged(entry);
    } finally {
      socket.destroy();
    }
  }

  /** Resolves when the other side has closed after us. What it says is thrown away. @throws Error when it does not come to that */
  #closedInOrder(socket: Socket): Promise<void> {
    socket.resume();
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (this.#handedAt === undefined) reject(new Error('the receiver closed the connection too early'));
      };
      socket.once('end', check);
      socket.once('error', reject);
      socket.once('close', () => {
        check();
        resolve();
      });
    });
  }
}

function open({ host, port, tls }: TcpSyslogTarget): Socket {
  if (tls === undefined) return connect({ host, port });
  return connectTls({
    host,
    port,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
  });
}
