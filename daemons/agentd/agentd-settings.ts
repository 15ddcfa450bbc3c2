import { type HostConfig, loadHostConfig } from '../../lib/agents/load-host-config.js';
import { describeWarning } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { type InternalOptions, loadInternalOptions } from '../../lib/config/internal-options.js';
import type { ManagerConfig } from '../../lib/config/manager-config.js';
import type { LogTargets } from '../../lib/daemon/daemon-logger.js';
import type { DaemonSettings } from '../../lib/daemon/daemon-settings.js';
import { logTargets, shownLogging } from '../../lib/daemon/log-targets.js';
import type { Home } from '../../lib/home/home.js';
import { readHomeRecord } from '../../lib/home/home-record.js';
import type { Logger } from '../../lib/log/logger.js';
import type { MaintenanceSettings } from '../../lib/rotation/log-maintenance.js';
import type { RetentionRule } from '../../lib/rotation/retention.js';
import { maintenanceSettings, retentionRules } from '../../lib/rotation/rotation-settings.js';

const SECTIONS = ['client', 'client_buffer', 'labels', 'anti_tampering'] as const;

export type ClientConfig = NonNullable<ManagerConfig<'client'>['client']>;
export type ServerConfig = ClientConfig['server'][number];

/** Configuration of svc-agentd, as one thing that is replaced whole by a reload. */
export type AgentdSettings = {
  /** What the manager shares is in it. */
  readonly config: HostConfig<(typeof SECTIONS)[number]>;
  readonly client: ClientConfig;
  readonly options: InternalOptions<'agent' | 'monitord'>;
  /** Seconds without a sign of the manager before the connection is given up. */
  readonly reconnectAfter: number;
  /** Events a second that leave the buffer. */
  readonly eventsPerSecond: number;
  /** How the logs of this host are rotated, and how long they are kept. */
  readonly maintenance: MaintenanceSettings;
  readonly retention: readonly RetentionRule[];
  /** Which logs are written; only to be shown. */
  readonly logging: LogTargets;
};

/** A configuration that an agent cannot run with. */
class AgentdSettingsError extends Error {
  override readonly name = 'AgentdSettingsError';
}

/** How svc-agentd reads its configuration. */
export const SETTINGS: DaemonSettings<AgentdSettings> = {
  load: ({ home }) => load(home),
  logWarnings,
  sections: activeSections,
  takeOver,
  restartNeeded: (next, { before }) => restartNeeded(takeOver(next, before), next),
};

/** @throws ConfigError with file and line; AgentdSettingsError */
function load(home: Home): AgentdSettings {
  if (readHomeRecord(home).role !== 'agent') {
    throw new AgentdSettingsError(`'${home.root}' is the home of a manager: svc-agentd runs on agents only`);
  }
  const config = loadHostConfig(home, SECTIONS);
  const options = loadInternalOptions(home, ['agent', 'monitord']);
  const { client } = config;
  if (client === undefined || client.server.length === 0) {
    throw new AgentdSettingsError(
      `(1211): ${config.file}: no manager to connect to: <client><server><address> is missing`,
    );
  }
  if (client.server.some(({ port }) => port === 0)) {
    throw new AgentdSettingsError(`${config.file}: 0 is not the port of a manager (client/server/port)`);
  }
  const { agent_name, agent_address, use_source_ip } = client.enrollment;
  if (agent_address !== undefined && use_source_ip) {
    throw new AgentdSettingsError(
      `${config.file}: 'agent_address' and 'use_source_ip' exclude each other (enrollment)`,
    );
  }
  if (agent_name === 'localhost') {
    throw new AgentdSettingsError(`${config.file}: 'localhost' is no name for an agent (enrollment/agent_name)`);
  }
  if (options.get('agent.normal_level') >= options.get('agent.warn_level')) {
    throw new AgentdSettingsError(
      '(2302): Invalid definition for agent.normal_level: it must be below agent.warn_level.',
    );
  }
  const notify = client.notify_time;
  const reconnect = client['time-reconnect'];
  return {
    config,
    client,
    options,
    reconnectAfter: reconnect > notify ? reconnect : 3 * notify,
    eventsPerSecond: Math.max(config.client_buffer.events_per_second, options.get('agent.min_eps')),
    maintenance: maintenanceSettings(options),
    retention: retentionRules(options),
    logging: logTargets(home, false),
  };
}

/** What of new settings a running svc-agentd takes over. */
function takeOver(next: AgentdSettings, before: AgentdSettings): AgentdSettings {
  const { labels, client_buffer, shared } = next.config;
  const { force_reconnect_interval } = next.client;
  return {
    ...before,
    config: { ...before.config, labels, client_buffer, shared },
    client: { ...before.client, force_reconnect_interval },
    eventsPerSecond: next.eventsPerSecond,
    maintenance: next.maintenance,
    retention: next.retention,
  };
}

/** Sections of which something in force is another one than in the new settings. */
function restartNeeded(inForce: AgentdSettings, next: AgentdSettings): readonly string[] {
  const differs = (part: (settings: AgentdSettings) => unknown): boolean =>
    JSON.stringify(part(inForce)) !== JSON.stringify(part(next));
  return [
    ...(differs(({ client }) => client) ? ['client'] : []),
    ...(differs(({ config }) => config.anti_tampering) ? ['anti_tampering'] : []),
    ...(differs(activeInternal) ? ['internal_options'] : []),
  ];
}

/** Logs what of the configuration has no effect, or another one. */
function logWarnings({ config, options, eventsPerSecond }: AgentdSettings, logger: Logger): void {
  for (const warning of [...ownWarnings(config.warnings, 'svc-agentd'), ...options.warnings]) {
    logger.warn(describeWarning(warning));
  }
  const buffer = config.client_buffer;
  if (buffer.disabled) {
    logger.info('Agent buffer disabled.');
  } else {
    if (eventsPerSecond > buffer.events_per_second) {
      logger.warn(`Client buffer throughput too low: set to ${eventsPerSecond} eps`);
    }
    if (options.get('agent.tolerance') === 0) {
      logger.warn('Tolerance time set to Zero, defined flooding condition when buffer is full.');
    }
  }
}

const yesNo = (value: boolean): 'yes' | 'no' => (value ? 'yes' : 'no');

/** Sections in force, by the name a manager asks for (daemons-and-config.md 1.7). */
export function activeSections(settings: () => AgentdSettings): ReadonlyMap<string, () => Record<string, unknown>> {
  return new Map<string, () => Record<string, unknown>>([
    ['client', () => ({ client: activeClient(settings()) })],
    ['buffer', () => ({ buffer: activeBuffer(settings()) })],
    [
      'labels',
      () => ({
        labels: settings().config.labels.map(({ key, value, hidden }) => ({ value, key, hidden: yesNo(hidden) })),
      }),
    ],
    ['internal', () => ({ internal: { agent: activeInternal(settings()) } })],
    [
      'anti_tampering',
      () => ({
        anti_tampering: { package_uninstallation: yesNo(settings().config.anti_tampering.package_uninstallation) },
      }),
    ],
    ['logging', () => shownLogging(settings().logging)],
  ]);
}

function activeClient({ config, client, reconnectAfter }: AgentdSettings): Record<string, unknown> {
  return {
    'config-profile': client['config-profile'],
    notify_time: client.notify_time,
    'time-reconnect': reconnectAfter,
    force_reconnect_interval: client.force_reconnect_interval,
    ip_update_interval: client.ip_update_interval,
    auto_restart: yesNo(client.auto_restart),
    remote_conf: yesNo(config.shared.state !== 'off'),
    crypto_method: client.crypto_method,
    server: client.server.map(({ address, port, protocol, max_retries, retry_interval }) => ({
      address,
      port,
      protocol,
      max_retries,
      retry_interval,
    })),
    enrollment: {
      enabled: yesNo(client.enrollment.enabled),
      delay_after_enrollment: client.enrollment.delay_after_enrollment,
      port: client.enrollment.port,
      ssl_cipher: client.enrollment.ssl_cipher,
    },
  };
}

function activeBuffer({ config, eventsPerSecond }: AgentdSettings): Record<string, unknown> {
  const { disabled, queue_size } = config.client_buffer;
  return { disabled: yesNo(disabled), queue_size, events_per_second: eventsPerSecond };
}

/** Internal options that have an effect here. */
const USED_OPTIONS = [
  'remote_conf',
  'tolerance',
  'warn_level',
  'normal_level',
  'min_eps',
  'state_interval',
  'recv_timeout',
] as const;

function activeInternal({ options }: AgentdSettings): Record<string, unknown> {
  return Object.fromEntries(USED_OPTIONS.map((name) => [name, options.get(`agent.${name}`)]));
}
