import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { pause } from '../../../lib/async/pause.js';
import type { BusEvent } from '../../../lib/bus/bus-event.js';
import type { BoundAddress } from '../../../lib/daemon/daemon-spec.js';
import { normalizeAddress } from '../../../lib/network/agent-address.js';
import type { WaitingSource } from '../event-gate.js';
import type { FloodGuard } from '../flood-guard.js';
import { SyslogConnection, type SyslogConnectionOwner } from './syslog-connection.js';
import type { SyslogConnections } from './syslog-connections.js';
import type { SyslogCounters } from './syslog-counters.js';
import type { SyslogFramingError } from './syslog-framer.js';
import { IDLE_TIMEOUT_MS, KEEP_ALIVE_MS, QUIET_MS, SYSLOG_SWEEP_MS, UNFINISHED_TIMEOUT_MS } from './syslog-limits.js';
import type { SyslogMessages } from './syslog-messages.js';

export type SyslogTcpParts = {
  readonly messages: Pick<SyslogMessages, 'admits' | 'event'>;
  /** Where events go; false when the connection has to stand still with its event. */
  readonly offer: (event: BusEvent, holder: WaitingSource) => boolean;
  /** Those of all listeners. */
  readonly all: SyslogConnections;
  readonly counters: SyslogCounters;
  readonly log: FloodGuard;
  /** Milliseconds of a clock that is not set. */
  readonly now: () => number;
};

/** Takes syslog over TCP. A connection stands still while the bus has no room: the network holds its sender back. */
export class SyslogTcpListener implements SyslogConnectionOwner {
  readonly #parts: SyslogTcpParts;
  readonly #server: Server;
  readonly #own = new Set<SyslogConnection>();
  #sweep: NodeJS.Timeout | undefined;
  #received = 0;

  constructor(parts: SyslogTcpParts) {
    this.#parts = parts;
    this.#server = createServer({ keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, allowHalfOpen: false });
    this.#server.on('connection', (socket) => {
      this.#accept(socket);
    });
  }

  /** @throws the system's error, such as EADDRINUSE */
  async start(host: string, port: number): Promise<BoundAddress> {
    this.#server.listen({ host, port });
    await once(this.#server, 'listening');
    this.#server.on('error', (error) => {
      this.#parts.log.log('error', `Accepting syslog connections failed: ${error.message}`);
    });
    this.#sweep = setInterval(() => {
      this.sweep();
    }, SYSLOG_SWEEP_MS);
    const { address, port: bound } = this.#server.address() as AddressInfo;
    return { protocol: 'tcp', address, port: bound };
  }

  /**
   * Takes no new connections and reads what senders have sent already: until all have ended, or nothing comes any more.
   * @param mostMs after this time the rest is left, as senders go on
   */
  async finish(mostMs: number): Promise<void> {
    this.#server.close();
    for (const connection of this.#own) connection.finish();
    const end = performance.now() + mostMs;
    let before = -1;
    while (this.#own.size > 0 && (before !== this.#received || this.#anyHeld) && performance.now() < end) {
      before = this.#received;
      await pause(QUIET_MS);
    }
  }

  get #anyHeld(): boolean {
    return [...this.#own].some(({ held }) => held);
  }

  stop(): void {
    clearInterval(this.#sweep);
    this.#server.close();
    for (const connection of this.#own) connection.close();
  }

  /** Ends connections that are silent for too long, or in the middle of a message. */
  sweep(): void {
    const now = this.#parts.now();
    for (const connection of this.#own) {
      if (!connection.unfinished) connection.unfinishedSince = undefined;
      else connection.unfinishedSince ??= now;
      if (now - (connection.unfinishedSince ?? now) >= UNFINISHED_TIMEOUT_MS) {
        this.#timeOut(connection, 'no end of its message came in time');
      } else if (!connection.held && now - connection.activeAt >= IDLE_TIMEOUT_MS) {
        this.#timeOut(connection, 'nothing came for a day');
      }
    }
  }

  message(connection: SyslogConnection, message: Buffer): boolean {
    connection.unfinishedSince = undefined;
    const event = this.#parts.messages.event(connection.source, message);
    return event === undefined || this.#parts.offer(event, connection);
  }

  received(connection: SyslogConnection, bytes: number): void {
    this.#received += bytes;
    this.#parts.counters.receivedBytes += bytes;
    this.#parts.all.active(connection, this.#parts.now());
  }

  tooLong({ source }: SyslogConnection): void {
    this.#parts.counters.tooLong += 1;
    this.#parts.log.log('warning', `A syslog message of '${source}' is too long: its head is taken.`);
  }

  malformed({ source }: SyslogConnection, { message }: SyslogFramingError): void {
    this.#parts.counters.malformed += 1;
    this.#parts.log.log('warning', `Syslog connection of '${source}' closed: ${message}.`);
  }

  closed(connection: SyslogConnection): void {
    this.#own.delete(connection);
    this.#parts.all.closed(connection);
  }

  #accept(socket: Socket): void {
    const { messages, counters, all, log, now } = this.#parts;
    const source = normalizeAddress(socket.remoteAddress ?? '');
    if (!messages.admits(source)) {
      socket.destroy();
      return;
    }
    const connection = new SyslogConnection(socket, this, source);
    if (!all.open(connection, now())) {
      counters.connections.refused += 1;
      log.log('warning', `Too many syslog connections: a new one of '${source}' was refused.`);
      socket.destroy();
      return;
    }
    counters.connections.accepted += 1;
    this.#own.add(connection);
  }

  #timeOut(connection: SyslogConnection, reason: string): void {
    this.#parts.counters.connections.timedOut += 1;
    this.#parts.log.log('warning', `Syslog connection of '${connection.source}' closed: ${reason}.`);
    connection.close();
  }
}
