import type { BoundAddress } from '../../lib/daemon/daemon-spec.js';
import type { RemoteConfig } from '../../lib/config/sections/remote.js';
import { bindAddress } from './remoted-settings.js';
import { TcpListener, type TcpListenerParts, type TcpMessages } from './tcp-listener.js';
import { UdpListener, type UdpMessages } from './udp-listener.js';

export type ListenersParts = Omit<TcpListenerParts, 'messages'> & { readonly messages: TcpMessages & UdpMessages };

/** The sockets that agents reach: TCP, UDP or both on one port (agents-and-groups.md 3.1). */
export class Listeners {
  readonly #parts: ListenersParts;
  #tcp: TcpListener | undefined;
  #udp: UdpListener | undefined;

  constructor(parts: ListenersParts) {
    this.#parts = parts;
  }

  get tcpSessions(): number {
    return this.#tcp?.size ?? 0;
  }

  /**
   * Binds what the block names. With port 0 the system chooses, for both protocols the same one.
   * @throws the system's error, such as EADDRINUSE
   */
  async start(block: RemoteConfig): Promise<Readonly<Record<string, BoundAddress>>> {
    const { messages, counters, log } = this.#parts;
    const host = bindAddress(block);
    const bound: Record<string, BoundAddress> = {};
    let { port } = block;
    if (block.protocol.includes('tcp')) {
      this.#tcp = new TcpListener(this.#parts);
      bound['agents_tcp'] = await this.#tcp.start(host, port);
      port = bound['agents_tcp'].port ?? port;
    }
    if (block.protocol.includes('udp')) {
      this.#udp = new UdpListener(messages, counters, log, block.ipv6 || host.includes(':'));
      bound['agents_udp'] = await this.#udp.start(host, port);
    }
    return bound;
  }

  /** Takes nothing new and reads what agents have sent already. @param mostMs the longest it may take */
  async finish(mostMs: number): Promise<void> {
    await Promise.all([this.#tcp?.finish(mostMs), this.#udp?.finish(mostMs)]);
  }

  stop(): void {
    this.#tcp?.stop();
    this.#udp?.stop();
  }
}
