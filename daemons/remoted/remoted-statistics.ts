import { AgentCounts } from './agent-link.js';
import type { RemotedCounters } from './remoted-counters.js';
import type { SyslogCounters } from './syslog/syslog-counters.js';

const NOTHING: Readonly<AgentCounts> = new AgentCounts();

/** What is counted, and what is looked at when it is asked for. */
export type StatisticsSources = {
  readonly counters: RemotedCounters;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly now: () => number;
  readonly tcpSessions: () => number;
  /** Events that wait for the bus, and how many may. */
  readonly queued: () => number;
  readonly queueSize: number;
  /** Agents whose state waits for svc-db, and how many may. */
  readonly waiting: () => number;
  readonly mostWaiting: number;
  readonly syslog: SyslogCounters;
};

/** Answer of `getstats` (daemons-and-config.md 11.3). */
export function remotedStatistics(sources: StatisticsSources): Record<string, unknown> {
  const { counters, queueSize, syslog } = sources;
  const { received, sent, mailbox } = counters;
  const queued = sources.queued();
  return {
    ...countedSince(sources),
    name: 'wazuh-remoted',
    metrics: {
      bytes: { received: counters.receivedBytes, sent: counters.sentBytes },
      keys_reload_count: counters.keysReloads,
      messages: {
        received_breakdown: {
          control: counters.control,
          control_breakdown: {
            keepalive: received.keepalive,
            request: received.request,
            shutdown: received.shutdown,
            startup: received.startup,
          },
          dequeued_after: received.dequeuedAfter,
          discarded: received.discarded,
          event: received.event,
          ping: received.ping,
          unknown: received.unknown,
        },
        sent_breakdown: { ...sent },
      },
      queues: { received: { size: queueSize, usage: queued / queueSize } },
      tcp_sessions: sources.tcpSessions(),
      control_messages_queue_usage: sources.waiting() / sources.mostWaiting,
      control_messages_queue_breakdown: {
        inserted: mailbox.inserted,
        replaced: mailbox.replaced,
        processed: mailbox.processed,
      },
      syslog: {
        received: syslog.messages,
        refused: syslog.refused,
        too_long: syslog.tooLong,
        dropped: syslog.dropped + syslog.lost,
      },
    },
  };
}

/** Epoch seconds of when counting began, and of now. */
export function countedSince({ startedAt, now }: Pick<StatisticsSources, 'startedAt' | 'now'>): {
  uptime: number;
  timestamp: number;
} {
  return { uptime: Math.floor(startedAt / 1000), timestamp: Math.floor(now() / 1000) };
}

/** What was counted of one agent, in the shape of the counters of all. @param counts undefined for one that was never heard */
export function agentMetrics(counts: Readonly<AgentCounts> = NOTHING): Record<string, unknown> {
  const { event, keepalive, startup, shutdown, request, sent } = counts;
  return {
    messages: {
      received_breakdown: {
        control: keepalive + startup + shutdown + request,
        control_breakdown: { keepalive, request, shutdown, startup },
        event,
      },
      sent_breakdown: { ...sent },
    },
  };
}

/** Text of the state file (daemons-and-config.md 11.1). */
export function remotedStateText(sources: StatisticsSources): string {
  const { counters } = sources;
  const { received, mailbox } = counters;
  const values: [comment: string, key: string, value: string][] = [
    ['Events that wait for the bus', 'queue_size', String(sources.queued())],
    ['Events that may wait', 'total_queue_size', String(sources.queueSize)],
    ['TCP sessions', 'tcp_sessions', String(sources.tcpSessions())],
    ['Events of agents', 'evt_count', String(received.event)],
    ['Control messages', 'ctrl_msg_count', String(counters.control)],
    ['Events discarded', 'discarded_count', String(received.discarded)],
    ['Bytes sent', 'sent_bytes', String(counters.sentBytes)],
    ['Bytes received', 'recv_bytes', String(counters.receivedBytes)],
    ['Messages read after their connection was closed', 'dequeued_after_close', String(received.dequeuedAfter)],
    [
      'Use of the queue of control messages',
      'ctrl_msg_queue_usage',
      (sources.waiting() / sources.mostWaiting).toFixed(2),
    ],
    ['Control messages put into it', 'ctrl_msg_queue_inserted', String(mailbox.inserted)],
    ['Control messages that replaced older ones', 'ctrl_msg_queue_replaced', String(mailbox.replaced)],
    ['Control messages taken from it', 'ctrl_msg_queue_processed', String(mailbox.processed)],
  ];
  const head = '# State file for wazuh-remoted\n# THIS FILE WILL BE DEPRECATED IN FUTURE VERSIONS\n\n';
  return head + values.map(([comment, key, value]) => `# ${comment}\n${key}='${value}'\n`).join('\n');
}
