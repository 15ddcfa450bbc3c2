import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BoundAddress } from '../../lib/daemon/daemon-spec.js';
import { normalizeAddress } from '../../lib/network/agent-address.js';
import type { Route } from './agent-link.js';
import type { FloodGuard } from './flood-guard.js';
import { UDP_RECEIVE_BUFFER_BYTES } from './remoted-limits.js';

/** What is counted of datagrams. */
export type DatagramCounters = { receivedBytes: number; sentBytes: number };

/** What is done with datagrams. */
export interface UdpMessages {
  /** @param message belongs to nobody else */
  takeUdp(peer: UdpPeer, message: Buffer): void;
}

/** The address a datagram came from. */
export class UdpPeer implements Route {
  readonly lossy = true;
  readonly source: string;
  lastReceivedAt = 0;
  #open = true;

  constructor(
    private readonly socket: Socket,
    private readonly address: string,
    private readonly port: number,
    private readonly counters: DatagramCounters,
  ) {
    this.source = normalizeAddress(address);
  }

  get open(): boolean {
    return this.#open;
  }

  /** Whether a datagram came the same way. */
  is(other: UdpPeer): boolean {
    return this.address === other.address && this.port === other.port;
  }

  send(message: Buffer): boolean {
    if (!this.#open) return false;
    // The sender of a datagram hears nothing of its end: an error says no more than a loss on the way does.
    this.socket.send(message, this.port, this.address, () => {});
    this.counters.sentBytes += message.length;
    return true;
  }

  close(): void {
    this.#open = false;
  }
}

export type UdpListenerParts = {
  readonly messages: UdpMessages;
  readonly counters: DatagramCounters;
  readonly log: FloodGuard;
  /** Whose datagrams they are, for the log. */
  readonly senders: string;
};

/** Takes datagrams, of agents (agents-and-groups.md 3.1) or of those who send syslog. */
export class UdpListener {
  readonly #socket: Socket;
  readonly #parts: UdpListenerParts;
  #received = 0;
  #stopped = false;

  constructor(parts: UdpListenerParts, ipv6: boolean) {
    this.#parts = parts;
    const { messages, counters } = parts;
    this.#socket = createSocket({ type: ipv6 ? 'udp6' : 'udp4', recvBufferSize: UDP_RECEIVE_BUFFER_BYTES });
    this.#socket.on('message', (message: Buffer, from: RemoteInfo) => {
      this.#received += 1;
      counters.receivedBytes += message.length;
      messages.takeUdp(new UdpPeer(this.#socket, from.address, from.port, counters), message);
    });
  }

  /** @throws the system's error, such as EADDRINUSE */
  async start(host: string, port: number): Promise<BoundAddress> {
    this.#socket.bind({ address: host, port });
    await once(this.#socket, 'listening');
    this.#socket.on('error', (error) => {
      this.#parts.log.log('error', `Receiving datagrams of ${this.#parts.senders} failed: ${error.message}`);
    });
    const { address, port: bound } = this.#socket.address();
    return { protocol: 'udp', address, port: bound };
  }

  /**
   * Reads the datagrams that the system has taken already.
   * @param mostMs after this time the rest is left, as agents go on sending
   */
  async finish(mostMs: number): Promise<void> {
    const end = performance.now() + mostMs;
    let before: number;
    do {
      before = this.#received;
      // Between two turns the event loop reads the socket; when that brings nothing, it was empty.
      await nextTurn();
      await nextTurn();
    } while (before !== this.#received && performance.now() < end);
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#socket.close();
  }
}
