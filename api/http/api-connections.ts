import type { Server as NetServer, Socket } from 'node:net';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import { ConnectionBudget, type ConnectionLimits } from '../../lib/network/connection-budget.js';

/**
 * Connections of the API. The total stops a flood from using up descriptors and memory. A browser opens six connections
 * to a server and a proxy some tens; each has shown its token with the first request. 128 without one are far more than
 * people need, and leave an address that floods an eighth of the places.
 */
export const API_CONNECTIONS: ConnectionLimits = { total: 1024, unproven: 1024, unprovenPerAddress: 128 };

/** The connections of all listeners of the API: those on which no token was used yet make room for others. */
export class ApiConnections {
  readonly #budget: ConnectionBudget<Socket>;
  /** The socket below TLS by the connection's two ends, for the time of its handshake. */
  readonly #below = new Map<string, Socket>();
  /** The same by the socket that requests come from. */
  readonly #carriers = new WeakMap<Socket, Socket>();
  readonly #log: LimitedLogger;
  #refused = 0;

  constructor(logger: Pick<Logger, 'limited'>, limits: ConnectionLimits = API_CONNECTIONS) {
    this.#log = logger.limited();
    this.#budget = new ConnectionBudget({
      limits,
      close: (socket, address) => this.#refuse(socket, `the oldest one of ${address} without a token was closed`),
    });
  }

  /** Connections closed because there were too many. */
  get refused(): number {
    return this.#refused;
  }

  /** Counts the connections of a server. */
  watch(server: NetServer): void {
    server.on('connection', (socket: Socket) => this.#open(socket));
    server.on('secureConnection', (socket: Socket) => {
      const below = this.#below.get(endsOf(socket));
      if (below !== undefined) this.#carriers.set(socket, below);
    });
  }

  /** A valid token, or name and password, came over the connection. @param socket that of the request */
  prove(socket: Socket): void {
    this.#budget.prove(this.#carriers.get(socket) ?? socket);
  }

  #open(socket: Socket): void {
    const ends = endsOf(socket);
    this.#below.set(ends, socket);
    socket.once('close', () => {
      if (this.#below.get(ends) === socket) this.#below.delete(ends);
      this.#budget.closed(socket);
    });
    if (this.#budget.open(socket, socket.remoteAddress ?? '')) return;
    this.#refuse(socket, `a new one of ${socket.remoteAddress ?? 'an unknown address'} was refused`);
  }

  #refuse(socket: Socket, what: string): void {
    this.#refused += 1;
    this.#log.warn(`Too many connections to the API: ${what}.`);
    socket.destroy();
  }
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}
