import type { RemoteConfig } from '../../lib/config/sections/remote.js';
import type { BoundAddress } from '../../lib/daemon/daemon-spec.js';
import { explainPortInUse, joinPortErrors } from '../../lib/process/port-in-use.js';
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
   * @throws PortInUseError that names every port that is taken; another error of the system
   */
  async start(block: RemoteConfig): Promise<Readonly<Record<string, BoundAddress>>> {
    const { messages, counters, log } = this.#parts;
    const host = bindAddress(block);
    const bound: Record<string, BoundAddress> = {};
    const failures: Error[] = [];
    const bind = async (protocol: 'tcp' | 'udp', port: number, start: () => Promise<BoundAddress>): Promise<void> => {
      try {
        bound[`agents_${protocol}`] = await start();
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        failures.push(explainPortInUse(error, { protocol, port, setting: '<remote><port> in etc/manager.conf' }));
      }
    };
    let { port } = block;
    if (block.protocol.includes('tcp')) {
      const tcp = (this.#tcp = new TcpListener(this.#parts));
      await bind('tcp', port, () => tcp.start(host, port));
      port = bound['agents_tcp']?.port ?? port;
    }
    if (block.protocol.includes('udp')) {
      const udp = (this.#udp = new UdpListener({ messages, counters, log, senders: 'agents' }, host.includes(':')));
      await bind('udp', port, () => udp.start(host, port));
    }
    if (failures.length > 0) throw joinPortErrors(failures);
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
