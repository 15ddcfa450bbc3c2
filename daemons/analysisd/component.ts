import { QUEUE_IDS } from '../../lib/events/queue-ids.js';

/** Members of the `decoded_breakdown` of `getstats` that an event can be attributed to (rules-and-alerts.md 11.4). */
export const COMPONENTS = [
  'agent',
  'agentless',
  'dbsync',
  'monitor',
  'remote',
  'syslog',
  'virustotal',
  'aws',
  'azure',
  'ciscat',
  'command',
  'docker',
  'gcp',
  'github',
  'eventchannel',
  'eventlog',
  'macos',
  'others',
  'ms-graph',
  'office365',
  'oscap',
  'osquery',
  'rootcheck',
  'sca',
  'syscheck',
  'syscollector',
  'upgrade',
  'vulnerability',
] as const;
export type CountedComponent = (typeof COMPONENTS)[number];

/** Queue ids that name the component by themselves (decoding.md 3.1). */
const BY_QUEUE: Readonly<Record<string, CountedComponent>> = {
  [QUEUE_IDS.syslog]: 'syslog',
  [QUEUE_IDS.synchronization]: 'dbsync',
  [QUEUE_IDS.fileIntegrity]: 'syscheck',
  [QUEUE_IDS.rootcheck]: 'rootcheck',
  [QUEUE_IDS.inventory]: 'syscollector',
  [QUEUE_IDS.cisCat]: 'ciscat',
  [QUEUE_IDS.windowsEventChannel]: 'eventchannel',
  [QUEUE_IDS.policyAssessment]: 'sca',
  [QUEUE_IDS.upgrade]: 'upgrade',
};

const BY_LOCATION: ReadonlyMap<string, CountedComponent> = new Map<string, CountedComponent>([
  ['wazuh-agent', 'agent'],
  ['wazuh-agentlessd', 'agentless'],
  ['wazuh-monitord', 'monitor'],
  ['wazuh-remoted', 'remote'],
  ['virustotal', 'virustotal'],
  ['aws-s3', 'aws'],
  ['Wazuh-AWS', 'aws'],
  ['azure-logs', 'azure'],
  ['Azure', 'azure'],
  ['cis-cat', 'ciscat'],
  ['wodle_cis-cat', 'ciscat'],
  ['command', 'command'],
  ['docker-listener', 'docker'],
  ['Wazuh-Docker', 'docker'],
  ['gcp-pubsub', 'gcp'],
  ['gcp-bucket', 'gcp'],
  ['Wazuh-GCloud', 'gcp'],
  ['github', 'github'],
  ['office365', 'office365'],
  ['ms-graph', 'ms-graph'],
  ['open-scap', 'oscap'],
  ['wodle_open-scap', 'oscap'],
  ['osquery', 'osquery'],
  ['rootcheck', 'rootcheck'],
  ['sca', 'sca'],
  ['syscheck', 'syscheck'],
  ['syscollector', 'syscollector'],
  ['agent-upgrade', 'upgrade'],
  ['vulnerability-detector', 'vulnerability'],
  ['macos', 'macos'],
  ['WinEvtLog', 'eventlog'],
]);

/** The component an event is counted for: by queue id, else by the text of the location behind the last `->`. */
export function componentOf(queue: string, location: string): CountedComponent {
  const byQueue = BY_QUEUE[queue];
  if (byQueue !== undefined) return byQueue;
  const arrow = location.lastIndexOf('->');
  const source = arrow < 0 ? location : location.slice(arrow + 2);
  const known = BY_LOCATION.get(source);
  if (known !== undefined) return known;
  return source.startsWith('command_') ? 'command' : 'others';
}
