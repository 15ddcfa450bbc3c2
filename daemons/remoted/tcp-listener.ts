import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FrameSizeError } from '../../lib/agentlink/frame-decoder.js';
import { pause } from '../../lib/async/pause.js';
import type { BoundAddress } from '../../lib/daemon/daemon-spec.js';
import { LimitedLog } from '../../lib/log/limited-log.js';
import { ConnectionBudget } from '../../lib/network/connection-budget.js';
import type { FloodGuard } from './flood-guard.js';
import type { RemotedCounters } from './remoted-counters.js';
import { AGENT_CONNECTIONS, FRAME_TIMEOUT_MS, SWEEP_MS, UNPROVEN_TIMEOUT_MS } from './remoted-limits.js';
import { type ConnectionOwner, type MessageDisposition, TcpConnection } from './tcp-connection.js';

/** What is done with messages over TCP. */
export interface TcpMessages {
  takeTcp(connection: TcpConnection, message: Buffer): MessageDisposition;
  /** The connection is gone. */
  gone(connection: TcpConnection): void;
}

export type TcpListenerParts = {
  readonly messages: TcpMessages;
  readonly counters: RemotedCounters;
  readonly log: FloodGuard;
  /** `remoted.send_buffer_size` */
  readonly sendBuffer: number;
  /** `remoted.tcp_keepidle`, milliseconds: half-open connections are found by it. */
  readonly keepAliveMs: number;
  /** Milliseconds of a clock that is not set. */
  readonly now: () => number;
};

/** Accepts agents' connections (agents-and-groups.md 3.1). */
export class TcpListener implements ConnectionOwner {
  readonly #parts: TcpListenerParts;
  readonly #server: Server;
  readonly #connections = new Set<TcpConnection>();
  readonly #budget: ConnectionBudget<TcpConnection>;
  /** Those that have shown nothing yet, and since when; the oldest first. */
  readonly #unproven = new Map<TcpConnection, number>();
  /** Those in the middle of a frame, and since when; the oldest first. */
  readonly #unfinished = new Map<TcpConnection, number>();
  readonly #refused: LimitedLog;
  #sweep: NodeJS.Timeout | undefined;
  #lastGone: (() => void) | undefined;

  constructor(parts: TcpListenerParts) {
    this.#parts = parts;
    this.#server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: parts.keepAliveMs });
    this.#server.on('connection', (socket) => {
      this.#accept(socket);
    });
    this.#budget = new ConnectionBudget({
      limits: AGENT_CONNECTIONS,
      close: (connection, address) => {
        this.#refused.warn(
          `Too many connections without a readable message: the oldest one of '${address}' was closed.`,
        );
        this.#refuse(connection);
      },
    });
    this.#refused = new LimitedLog((_, message) => parts.log.log('warning', message), parts.now);
  }

  get size(): number {
    return this.#connections.size;
  }

  /** @throws the system's error, such as EADDRINUSE */
  async start(host: string, port: number): Promise<BoundAddress> {
    this.#server.listen({ host, port, backlog: 4096 });
    await once(this.#server, 'listening');
    this.#server.on('error', (error) => {
      this.#parts.log.log('error', `Accepting connections of agents failed: ${error.message}`);
    });
    this.#sweep = setInterval(() => {
      this.sweep();
    }, SWEEP_MS);
    const { address, port: bound } = this.#server.address() as AddressInfo;
    return { protocol: 'tcp', address, port: bound };
  }

  /**
   * Refuses new connections and reads those of agents to their end: agents hear of ours and end theirs, and what they had
   * sent before is not lost.
   * @param mostMs after this time those that go on are left as they are
   */
  async finish(mostMs: number): Promise<void> {
    this.#server.close();
    for (const connection of this.#connections) connection.finish();
    // What came before this is read in the next turn; from then on nobody waits for those that have shown nothing.
    await nextTurn();
    await nextTurn();
    if (this.#agentsGone) return;
    const given = new AbortController();
    const gone = new Promise<void>((resolve) => (this.#lastGone = resolve));
    await Promise.race([gone, pause(mostMs, given.signal)]);
    given.abort();
    if (this.#agentsGone) return;
    const left = String(this.#connections.size - this.#unproven.size);
    this.#parts.log.log(
      'warning',
      `${left} connections of agents did not end within ${String(mostMs / 1000)} s: what is on its way in them is lost.`,
    );
  }

  get #agentsGone(): boolean {
    return this.#connections.size <= this.#unproven.size;
  }

  /** Refuses new connections and ends those there are. */
  stop(): void {
    clearInterval(this.#sweep);
    this.#server.close();
    for (const connection of this.#connections) connection.close();
  }

  /** Ends connections that are too slow. */
  sweep(): void {
    const now = this.#parts.now();
    this.#end(this.#unproven, now - UNPROVEN_TIMEOUT_MS, 'no message that could be read');
    this.#end(this.#unfinished, now - FRAME_TIMEOUT_MS, 'no end of its message');
  }

  message(connection: TcpConnection, message: Buffer): MessageDisposition {
    const taken = this.#parts.messages.takeTcp(connection, message);
    if (connection.agent !== undefined && this.#unproven.delete(connection)) this.#budget.prove(connection);
    return taken;
  }

  tooLong(connection: TcpConnection, error: FrameSizeError): void {
    this.#parts.counters.received.unknown += 1;
    this.#parts.log.log('warning', `Too big message size from '${connection.source}' (${String(error.bytes)} bytes).`);
  }

  bytes(received: number, sent: number): void {
    this.#parts.counters.receivedBytes += received;
    this.#parts.counters.sentBytes += sent;
  }

  unfinished(connection: TcpConnection, unfinished: boolean): void {
    if (unfinished) this.#unfinished.set(connection, this.#parts.now());
    else this.#unfinished.delete(connection);
  }

  closed(connection: TcpConnection): void {
    this.#connections.delete(connection);
    this.#budget.closed(connection);
    this.#unproven.delete(connection);
    this.#unfinished.delete(connection);
    this.#parts.messages.gone(connection);
    if (this.#agentsGone) this.#lastGone?.();
  }

  #accept(socket: Socket): void {
    const { counters, now, sendBuffer } = this.#parts;
    counters.connections.accepted += 1;
    const connection = new TcpConnection(socket, this, sendBuffer);
    this.#connections.add(connection);
    this.#unproven.set(connection, now());
    if (this.#budget.open(connection, connection.source)) return;
    this.#refused.warn(`Too many connections of agents: a new one of '${connection.source}' was refused.`);
    this.#refuse(connection);
  }

  #refuse(connection: TcpConnection): void {
    this.#parts.counters.connections.refused += 1;
    this.#unproven.delete(connection);
    connection.close();
  }

  #end(since: Map<TcpConnection, number>, before: number, reason: string): void {
    for (const [connection, at] of since) {
      if (at > before) return;
      since.delete(connection);
      this.#parts.counters.connections.timedOut += 1;
      this.#parts.log.log('warning', `Connection from '${connection.source}' closed: ${reason} came in time.`);
      connection.close();
    }
  }
}
