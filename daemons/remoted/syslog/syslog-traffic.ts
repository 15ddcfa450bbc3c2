import { EventProducer } from '../../../lib/bus/event-producer.js';
import type { DaemonParts } from '../../../lib/daemon/daemon-parts.js';
import type { BoundAddress } from '../../../lib/daemon/daemon-spec.js';
import { EventGate } from '../event-gate.js';
import { FloodGuard } from '../flood-guard.js';
import { handOver } from '../hand-over.js';
import type { RemotedBase } from '../remoted-base.js';
import { DatagramQueue } from './datagram-queue.js';
import { lostDatagrams } from './lost-datagrams.js';
import { syslogBlocks, SyslogBlocksInForce } from './syslog-blocks.js';
import { SyslogCounters } from './syslog-counters.js';
import { LOST_DATAGRAMS_MS } from './syslog-limits.js';
import { SyslogListeners } from './syslog-listeners.js';

/** How long a stop reads what has come already. */
const FINISH_MS = 1000;

export type SyslogTraffic = {
  readonly counters: SyslogCounters;
  /** Groups of `stats`; undefined where nobody listens. */
  readonly stats: () => Record<string, unknown> | undefined;
  /** Binds the listeners and begins. */
  readonly start: () => Promise<Readonly<Record<string, BoundAddress>>>;
  /** First thing at the stop: reads what has come already, while others end. */
  readonly finish: () => void;
};

/**
 * The way of syslog from the sockets to the bus. Senders are known by nothing but their address: they have a window of the
 * bus and a log of their own, so that whatever they send takes nothing from agents.
 * @param drain what is done at the stop after the sockets are closed; events are handed on there
 * @param drainMs how long they may wait for that, milliseconds
 */
export function syslogTraffic(
  { home, logger, settings }: RemotedBase,
  drain: DaemonParts,
  drainMs: number,
  parts: DaemonParts,
): SyslogTraffic {
  const counters = new SyslogCounters();
  const blocks = syslogBlocks(settings.started.config.remote);
  if (blocks.length === 0) {
    return { counters, stats: () => undefined, start: () => Promise.resolve({}), finish: () => {} };
  }

  const producer = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-remoted.syslog', logger });
  const gate = new EventGate(producer, 0, logger);
  const datagrams = new DatagramQueue(producer);
  const inForce = new SyslogBlocksInForce(blocks, () => settings.current.config.remote);
  const listeners = new SyslogListeners({
    gate,
    datagrams,
    counters,
    log: new FloodGuard(logger),
    block: (place) => inForce.at(place),
  });
  drain.defer(() => handOver([gate, datagrams], producer, drainMs));
  parts.use(listeners);
  const finished = parts.waitPoint();

  const lostLog = logger.limited();
  const countLost = async (): Promise<void> => {
    const lost = await lostDatagrams(listeners.udpPorts);
    if (lost > counters.lost) {
      const more = String(lost - counters.lost);
      lostLog.warn(
        `${more} syslog datagrams came faster than they were read and are lost: a larger net.core.rmem_max helps.`,
      );
    }
    counters.lost = lost;
  };
  return {
    counters,
    stats: () => ({
      ...counters,
      connections: { open: listeners.tcpSessions, ...counters.connections },
      held: gate.heldCount,
      waiting: datagrams.size,
      events: producer.stats(),
    }),
    start: async () => {
      const bound = await listeners.start(blocks);
      producer.start();
      if (listeners.udpPorts.size > 0) parts.every(LOST_DATAGRAMS_MS, () => void countLost());
      logger.info(`Listening for syslog on ${portNames(bound)}.`);
      return bound;
    },
    finish: () => {
      finished(listeners.finish(FINISH_MS));
    },
  };
}

/** `port 514/UDP, port 601/TCP` */
function portNames(bound: Readonly<Record<string, BoundAddress>>): string {
  return Object.values(bound)
    .map(({ port, protocol }) => `port ${String(port)}/${protocol.toUpperCase()}`)
    .join(', ');
}
