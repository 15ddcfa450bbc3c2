import type { BoundAddress } from '../../../lib/daemon/daemon-spec.js';
import { explainPortInUse, joinPortErrors } from '../../../lib/process/port-in-use.js';
import type { EventGate } from '../event-gate.js';
import type { FloodGuard } from '../flood-guard.js';
import { bindAddress } from '../remoted-settings.js';
import { UdpListener, type UdpMessages } from '../udp-listener.js';
import type { DatagramQueue } from './datagram-queue.js';
import type { SyslogBlock } from './syslog-blocks.js';
import { SyslogConnections } from './syslog-connections.js';
import type { SyslogCounters } from './syslog-counters.js';
import { SyslogMessages } from './syslog-messages.js';
import { SyslogTcpListener } from './syslog-tcp-listener.js';

export type SyslogListenersParts = {
  /** Where events of connections go, and where those of datagrams. */
  readonly gate: Pick<EventGate, 'offer'>;
  readonly datagrams: Pick<DatagramQueue, 'offer'>;
  readonly counters: SyslogCounters;
  readonly log: FloodGuard;
  /** Blocks as the last reload left them, by their place. */
  readonly block: (place: number) => SyslogBlock;
};

type Listener = SyslogTcpListener | UdpListener;

/** The sockets that senders of syslog reach: one a `<remote>` block with that connection (daemons-and-config.md 1.2). */
export class SyslogListeners {
  readonly #parts: SyslogListenersParts;
  readonly #listeners: Listener[] = [];
  readonly #udpPorts = new Set<number>();
  readonly #connections = new SyslogConnections();

  constructor(parts: SyslogListenersParts) {
    this.#parts = parts;
  }

  get tcpSessions(): number {
    return this.#connections.size;
  }

  /** Local ports that datagrams come to. */
  get udpPorts(): ReadonlySet<number> {
    return this.#udpPorts;
  }

  /**
   * Binds what the blocks name: `syslog_tcp`, `syslog_udp`, and of further blocks with their place, such as `syslog_udp_2`.
   * With port 0 the system chooses.
   * @throws PortInUseError that names every port that is taken; another error of the system
   */
  async start(blocks: readonly SyslogBlock[]): Promise<Readonly<Record<string, BoundAddress>>> {
    const bound: Record<string, BoundAddress> = {};
    const failures: Error[] = [];
    for (const [place, block] of blocks.entries()) {
      const [protocol = 'tcp'] = block.protocol;
      try {
        const address = await this.#listen(place, block, protocol);
        bound[place === 0 ? `syslog_${protocol}` : `syslog_${protocol}_${String(place + 1)}`] = address;
        if (protocol === 'udp' && address.port !== undefined) this.#udpPorts.add(address.port);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        const setting = '<remote><port> of syslog in etc/manager.conf';
        failures.push(explainPortInUse(error, { protocol, port: block.port, setting }));
      }
    }
    if (failures.length > 0) throw joinPortErrors(failures);
    return bound;
  }

  /** Takes nothing new and reads what has come already. @param mostMs the longest it may take */
  async finish(mostMs: number): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.finish(mostMs)));
  }

  stop(): void {
    for (const listener of this.#listeners) listener.stop();
  }

  async #listen(place: number, block: SyslogBlock, protocol: 'tcp' | 'udp'): Promise<BoundAddress> {
    const { counters, log, gate } = this.#parts;
    const host = bindAddress(block);
    const messages = new SyslogMessages({
      block: () => this.#parts.block(place),
      counters,
      log,
      now: () => Date.now(),
    });
    if (protocol === 'udp') {
      const udp = new UdpListener(
        { messages: this.#datagrams(messages), counters, log, senders: 'syslog' },
        host.includes(':'),
      );
      this.#listeners.push(udp);
      return udp.start(host, block.port);
    }
    const tcp = new SyslogTcpListener({
      messages,
      offer: (event, holder) => gate.offer(event, holder),
      all: this.#connections,
      counters,
      log,
      now: () => performance.now(),
    });
    this.#listeners.push(tcp);
    return tcp.start(host, block.port);
  }

  #datagrams(messages: SyslogMessages): UdpMessages {
    const { counters, log, datagrams } = this.#parts;
    return {
      takeUdp: ({ source }, message) => {
        if (!messages.admits(source)) return;
        const event = messages.event(source, message);
        if (event === undefined || datagrams.offer(event)) return;
        counters.dropped += 1;
        log.log('warning', `Syslog datagrams of '${source}' are lost: too many wait to be analysed.`);
      },
    };
  }
}
