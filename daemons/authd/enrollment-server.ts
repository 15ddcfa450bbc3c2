import type { AddressInfo, Socket } from 'node:net';
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import { normalizeAddress } from '../../lib/network/agent-address.js';
import { ConnectionBudget, type ConnectionLimits } from '../../lib/network/connection-budget.js';
import { explainPortInUse } from '../../lib/process/port-in-use.js';
import { certificateNames } from '../../lib/tls/certificate-host.js';

/** Longest request (agents-and-groups.md 2.1). */
const MAX_REQUEST_BYTES = 69_632;
/**
 * Clients at a time (agents-and-groups.md 2.1). A client is gone when it has its key, so none is ever proven; of one address
 * there may be 256: a site that rolls out its agents at once enrols some hundreds a second, and no client needs longer than that, so
 * only those that show nothing reach it.
 */
export const ENROLLMENT_CONNECTIONS: ConnectionLimits = { total: 999, unproven: 999, unprovenPerAddress: 256 };
/** A client that does not finish its handshake in this time is dropped: open connections are bounded. */
const HANDSHAKE_MS = 5000;
/** The whole request must be there in this time after the handshake, however slowly its bytes come. */
const REQUEST_MS = 5000;
/** A client that does not read its reply is dropped after this time. */
const REPLY_MS = 5000;
/** Replies under way get this long when the daemon stops. */
const STOP_MS = 2000;

/** What a request gets. */
export type Reply = {
  readonly text: string;
  /** Called when the reply could not be handed over. */
  readonly undelivered?: () => void;
};

export type EnrollmentServerOptions = {
  /** 0 lets the system choose. */
  readonly port: number;
  /** Address to bind. */
  readonly host: string;
  readonly tls: SecureContextOptions;
  /** A certificate of the agent is demanded, signed by `tls.ca`. */
  readonly verifyAgent: boolean;
  /** It must have been made for the address the agent comes from. */
  readonly verifyHost: boolean;
  /** @param line the request without its last newline, one character a byte @param peer address of the sender */
  readonly answer: (line: string, peer: string) => Promise<Reply>;
  readonly logger: Logger;
  /** Limits that tests shorten, milliseconds. */
  readonly handshakeMs?: number;
  readonly requestMs?: number;
  readonly limits?: ConnectionLimits;
};

export type EnrollmentCounters = {
  /** Connections accepted. */
  connections: number;
  /** Requests answered. */
  answered: number;
  /** Connections that ended without an answer: no handshake, no request in time, no newline, too long. */
  dropped: number;
  /** Connections closed because there were too many. */
  refused: number;
};

/** The TLS service of port 1515: one request line, one reply, close (agents-and-groups.md 2.1). */
export class EnrollmentServer {
  readonly counters: EnrollmentCounters = { connections: 0, answered: 0, dropped: 0, refused: 0 };

  readonly #options: EnrollmentServerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<TLSSocket>();
  readonly #answering = new Set<Promise<void>>();
  readonly #handshakeLog: LimitedLogger;
  readonly #refusalLog: LimitedLogger;
  readonly #budget: ConnectionBudget<Socket>;

  constructor(options: EnrollmentServerOptions) {
    this.#options = options;
    const { logger } = options;
    this.#handshakeLog = logger.limited();
    this.#refusalLog = logger.limited();
    this.#server = createServer(
      {
        ...options.tls,
        requestCert: options.verifyAgent,
        rejectUnauthorized: options.verifyAgent,
        handshakeTimeout: options.handshakeMs ?? HANDSHAKE_MS,
        // A client may end its sending side after its request: it still gets the reply.
        allowHalfOpen: true,
      },
      (socket) => {
        this.#serve(socket);
      },
    );
    this.#budget = new ConnectionBudget({
      limits: options.limits ?? ENROLLMENT_CONNECTIONS,
      close: (socket, address) => {
        this.#refuse(socket, `The oldest one of ${address} was closed.`);
      },
    });
    this.#server.on('connection', (socket) => {
      this.#count(socket);
    });
    this.#server.on('tlsClientError', (error, socket) => {
      this.counters.dropped += 1;
      const peer = socket.remoteAddress === undefined ? 'a client that is gone' : peerOf(socket);
      this.#handshakeLog.warn(`TLS handshake with ${peer} failed: ${describeError(error)}`);
      socket.destroy();
    });
  }

  /** @throws PortInUseError, or another error of the system, when the port cannot be bound */
  async start(): Promise<AddressInfo> {
    const { port, host } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const refused = (error: NodeJS.ErrnoException) => {
        const place = { protocol: 'tcp', port, setting: '<auth><port> in etc/manager.conf' } as const;
        reject(explainPortInUse(explainPrivilegedPort(error, port), place));
      };
      this.#server.once('error', refused);
      this.#server.listen({ port, host, backlog: 1024 }, () => {
        this.#server.off('error', refused);
        resolve();
      });
    });
    this.#server.on('error', (error) => {
      this.#options.logger.error(`Enrolment service: ${describeError(error)}`);
    });
    return this.#server.address() as AddressInfo;
  }

  /** Clients past their handshake. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Certificates, versions and ciphers for connections from now on. */
  renew(tls: SecureContextOptions): void {
    this.#server.setSecureContext(tls);
  }

  /** Takes no new clients; those whose request is being answered get their reply. */
  async stop(): Promise<void> {
    this.#server.close();
    const late = new Promise((resolve) => setTimeout(resolve, STOP_MS).unref());
    await Promise.race([Promise.allSettled(this.#answering), late]);
    for (const socket of this.#sockets) socket.destroy();
  }

  #count(socket: Socket): void {
    this.counters.connections += 1;
    socket.once('close', () => {
      this.#budget.closed(socket);
    });
    if (!this.#budget.open(socket, socket.remoteAddress ?? '')) this.#refuse(socket, 'A new one was refused.');
  }

  #refuse(socket: Socket, what: string): void {
    this.counters.refused += 1;
    this.#refusalLog.error(`Too many connections. Rejecting. ${what}`);
    socket.destroy();
  }

  #serve(socket: TLSSocket): void {
    const { logger } = this.#options;
    const peer = peerOf(socket);
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
    if (this.#options.verifyHost) {
      const certificate = socket.getPeerX509Certificate();
      if (certificate === undefined || !certificateNames(certificate, peer)) {
        logger.error('Unable to verify client certificate.');
        this.#drop(socket);
        return;
      }
    }
    const chunks: Buffer[] = [];
    let length = 0;
    const noNewline = () => {
      if (length > 0) logger.error(`Newline terminator not found in message request for ${peer}`);
      this.#drop(socket);
    };
    const timer = setTimeout(noNewline, this.#options.requestMs ?? REQUEST_MS);
    const onEnd = () => {
      noNewline();
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      const complete = chunk[chunk.length - 1] === NEWLINE;
      if (length > MAX_REQUEST_BYTES || complete) {
        clearTimeout(timer);
        socket.off('data', onData);
        socket.off('end', onEnd);
        // Whatever comes after the request is read and thrown away, so that closing does not reset the reply.
        socket.resume();
        if (length > MAX_REQUEST_BYTES) noNewline();
        else this.#track(this.#answer(socket, Buffer.concat(chunks).toString('latin1', 0, length - 1), peer));
      }
    };
    socket.on('data', onData);
    socket.on('end', onEnd);
    socket.on('close', () => {
      clearTimeout(timer);
    });
  }

  #track(work: Promise<void>): void {
    this.#answering.add(work);
    void work.finally(() => this.#answering.delete(work));
  }

  async #answer(socket: TLSSocket, line: string, peer: string): Promise<void> {
    let reply: Reply;
    try {
      reply = await this.#options.answer(line, peer);
    } catch (error) {
      this.#options.logger.error(`Request from ${peer} failed: ${describeError(error)}`);
      this.#drop(socket);
      return;
    }
    if (await deliver(socket, reply.text)) {
      this.counters.answered += 1;
    } else {
      this.counters.dropped += 1;
      reply.undelivered?.();
    }
  }

  #drop(socket: TLSSocket): void {
    this.counters.dropped += 1;
    socket.destroy();
  }
}

const NEWLINE = 0x0a;

/** Whether the text was handed to the system for sending; the socket is closed either way. */
async function deliver(socket: TLSSocket, text: string): Promise<boolean> {
  if (socket.destroyed) return false;
  const timer = setTimeout(() => socket.destroy(), REPLY_MS);
  const delivered = await new Promise<boolean>((resolve) => {
    socket.once('finish', () => {
      resolve(true);
    });
    socket.once('close', () => {
      resolve(false);
    });
    socket.end(text, 'latin1');
  });
  // The client closes when it has read the reply; one that does not is not waited for.
  socket.once('close', () => {
    clearTimeout(timer);
  });
  return delivered;
}

function peerOf(socket: TLSSocket): string {
  return normalizeAddress(socket.remoteAddress ?? 'unknown');
}

/** Ports below are for root, and the network does not reach root here. */
const FIRST_UNPRIVILEGED_PORT = 1024;

function explainPrivilegedPort(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code !== 'EACCES' || port >= FIRST_UNPRIVILEGED_PORT) return error;
  const advice = `choose one from ${FIRST_UNPRIVILEGED_PORT} on, or lower the sysctl net.ipv4.ip_unprivileged_port_start`;
  return new Error(`Port ${port} of 'auth' is for root alone, and svc-authd runs as the service user: ${advice}`, {
    cause: error,
  });
}
