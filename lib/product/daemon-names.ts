/** The daemons of a manager, in start order. `GET /manager/status` shows exactly these names (product.md 2.5). */
export const MANAGER_DAEMONS = [
  'svc-db',
  'svc-analysisd',
  'svc-execd',
  'svc-authd',
  'svc-remoted',
  'svc-syscheckd',
  'svc-logcollector',
  'svc-monitord',
  'svc-modulesd',
  'svc-clusterd',
  'svc-apid',
] as const;

/** The daemon that replaces analysisd as the sink of events on an agent host. */
export const AGENT_DAEMON = 'svc-agentd';

export type DaemonName = (typeof MANAGER_DAEMONS)[number] | typeof AGENT_DAEMON;
