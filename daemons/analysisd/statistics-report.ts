import { breakdownTree, type Counters } from './counters.js';
import type { EpsLimiter } from './eps-limiter.js';

const QUEUES = [
  'alerts',
  'archives',
  'dbsync',
  'eventchannel',
  'firewall',
  'fts',
  'hostinfo',
  'others',
  'processed',
  'rootcheck',
  'sca',
  'stats',
  'syscheck',
  'syscollector',
  'upgrade',
] as const;

/**
 * Answer of `getstats` (rules-and-alerts.md 11.4, daemons-and-config.md 11.3). `pending` of `size` events wait;
 * `flow` tells of pipeline and journal, which the reference does not have.
 */
export function statisticsReport(
  counters: Counters,
  pending: number,
  size: number,
  limiter: EpsLimiter | undefined,
  now: number,
  flow: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const usage = Math.min(1, pending / size);
  const eps =
    limiter === undefined
      ? {}
      : {
          eps: {
            available_credits: limiter.available(Math.floor(now / 1000)),
            available_credits_prev: limiter.available(Math.floor(now / 1000) - 1),
            events_dropped: 0,
            events_dropped_not_eps: counters.eventsDropped,
            seconds_over_limit: limiter.secondsOverLimit,
          },
        };
  return {
    uptime: Math.floor(counters.startedAt / 1000),
    timestamp: Math.floor(now / 1000),
    name: 'wazuh-analysisd',
    metrics: {
      bytes: { received: counters.bytesReceived },
      ...eps,
      events: {
        processed: counters.eventsProcessed,
        received: counters.eventsReceived,
        received_breakdown: {
          decoded_breakdown: breakdownTree(counters.decoded),
          dropped_breakdown: breakdownTree(counters.dropped),
        },
        written_breakdown: {
          alerts: counters.alertsWritten,
          archives: counters.archivesWritten,
          firewall: counters.firewallWritten,
          fts: counters.ftsWritten,
          stats: counters.statsWritten,
        },
      },
      ...flow,
      queues: Object.fromEntries(QUEUES.map((queue) => [queue, { size, usage }])),
    },
  };
}
