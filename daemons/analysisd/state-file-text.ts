import type { Counters } from './counters.js';

/** Queues the reference reports; here all events go through one pipeline, so their usage is its usage. */
const QUEUES = [
  'syscheck',
  'syscollector',
  'rootcheck',
  'sca',
  'hostinfo',
  'winevt',
  'dbsync',
  'upgrade',
  'event',
  'rule_matching',
  'alerts',
  'firewall',
  'statistical',
  'archives',
] as const;

/** Text of the state file (rules-and-alerts.md 11.3). `pipelineUsage` is a fraction 0..1 of `pipelineSize` events. */
export function stateFileText(counters: Counters, pipelineUsage: number, pipelineSize: number): string {
  const { decoded } = counters;
  const specific =
    decoded.syscheck + decoded.syscollector + decoded.rootcheck + decoded.sca + decoded.eventchannel + decoded.dbsync;
  const total = counters.totalDecoded();
  const values: [comment: string, key: string, value: string][] = [
    ['Events decoded', 'total_events_decoded', String(total)],
    ['File integrity events decoded', 'syscheck_events_decoded', String(decoded.syscheck)],
    ['Inventory events decoded', 'syscollector_events_decoded', String(decoded.syscollector)],
    ['Rootcheck events decoded', 'rootcheck_events_decoded', String(decoded.rootcheck)],
    ['Configuration assessment events decoded', 'sca_events_decoded', String(decoded.sca)],
    ['Windows event channel events decoded', 'winevt_events_decoded', String(decoded.eventchannel)],
    ['Database synchronisation messages forwarded', 'dbsync_messages_dispatched', String(decoded.dbsync)],
    ['Other events decoded', 'other_events_decoded', String(total - specific)],
    ['Events matched against rules', 'events_processed', String(counters.eventsProcessed)],
    ['Events received', 'events_received', String(counters.eventsReceived)],
    ['Events dropped', 'events_dropped', String(counters.eventsDropped)],
    ['Alerts written', 'alerts_written', String(counters.alertsWritten)],
    ['Firewall lines written', 'firewall_written', String(counters.firewallWritten)],
    ['First-time-seen keys written', 'fts_written', String(counters.ftsWritten)],
  ];
  for (const queue of QUEUES) {
    values.push([`Usage of the ${queue} queue`, `${queue}_queue_usage`, pipelineUsage.toFixed(2)]);
    values.push([`Size of the ${queue} queue`, `${queue}_queue_size`, String(pipelineSize)]);
  }
  const head = '# State file for wazuh-analysisd\n# THIS FILE WILL BE DEPRECATED IN FUTURE VERSIONS\n\n';
  return head + values.map(([comment, key, value]) => `# ${comment}\n${key}='${value}'\n`).join('\n');
}
