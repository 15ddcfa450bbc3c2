import { hostname } from 'node:os';
import { describeWarning } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { type InternalOptions, loadInternalOptions } from '../../lib/config/internal-options.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { ManagerConfig } from '../../lib/config/manager-config.js';
import type { RemoteConfig } from '../../lib/config/sections/remote.js';
import type { DaemonSettings, ShownSection } from '../../lib/daemon/daemon-settings.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import type { DownloadOptions } from './downloads/group-downloads.js';
import { listenerText, syslogBlocks } from './syslog/syslog-blocks.js';

const SECOND_MS = 1000;
const MEBIBYTE = 1024 * 1024;
const SECTIONS = ['global', 'remote', 'cluster'] as const;
const DEFAULT_NODE = 'node01';

/** Configuration of svc-remoted, as one thing that is replaced whole by a reload. */
export type RemotedSettings = {
  readonly config: ManagerConfig<(typeof SECTIONS)[number]>;
  readonly options: InternalOptions<'remoted' | 'wazuh_download'>;
  /** The block with the connection `secure`: where agents connect. */
  readonly secure: RemoteConfig | undefined;
};

/** How svc-remoted reads its configuration. */
export const SETTINGS: DaemonSettings<RemotedSettings> = {
  load: ({ home }) => load(home),
  logWarnings,
  sections,
  restartNeeded: (next, { started }) => restartNeeded(started, next),
};

/** @throws ConfigError with file and line */
function load(home: Home): RemotedSettings {
  const config = loadManagerConfig(home, SECTIONS);
  const options = loadInternalOptions(home, ['remoted', 'wazuh_download']);
  return { config, options, secure: config.remote.find(({ connection }) => connection === 'secure') };
}

/** Logs what of the configuration has no effect. */
function logWarnings({ config, options, secure }: RemotedSettings, logger: Logger): void {
  for (const warning of [...ownWarnings(config.warnings, 'svc-remoted'), ...options.warnings]) {
    logger.warn(describeWarning(warning));
  }
  if (secure === undefined) {
    logger.warn("No 'remote' block has the connection 'secure': agents cannot connect.");
  }
}

/** Manager as agents' rows show it. */
export function managerIdentity({ config }: RemotedSettings): { readonly host: string; readonly node: string } {
  const node = config.cluster?.node_name;
  return { host: hostname(), node: node === undefined || node === '' ? DEFAULT_NODE : node };
}

/** Whether this manager is a node of a cluster. */
export function isClustered({ config: { cluster } }: RemotedSettings): boolean {
  return cluster?.disabled === false;
}

/** Address the listeners bind: `local_ip`, or all addresses. */
export function bindAddress({ local_ip, ipv6 }: RemoteConfig): string {
  return local_ip ?? (ipv6 ? '::' : '0.0.0.0');
}

/** How the files of files.yml are downloaded. */
export function downloadOptions({ options }: RemotedSettings): DownloadOptions {
  return {
    enabled: options.get('wazuh_download.enabled') === 1,
    reloadMs: options.get('remoted.shared_reload') * SECOND_MS,
    verify: options.get('wazuh_download.verify_certificates') === 1,
    maxBytes: options.get('wazuh_download.max_size') * MEBIBYTE,
    timeoutMs: options.get('wazuh_download.timeout') * SECOND_MS,
  };
}

const yesNo = (value: boolean): 'yes' | 'no' => (value ? 'yes' : 'no');

/** Sections in force, in the shapes of daemons-and-config.md 1.7, by the name they are asked for. */
function sections(settings: () => RemotedSettings): ReadonlyMap<string, ShownSection> {
  return new Map<string, ShownSection>([
    ['remote', () => ({ remote: settings().config.remote.map(activeBlock) })],
    ['global', () => ({ global: { remoted: activeGlobal(settings()) } })],
    ['internal', () => ({ internal: { remoted: activeInternal(settings()) } })],
  ]);
}

function activeBlock(block: RemoteConfig): Record<string, unknown> {
  const { local_ip } = block;
  const filters = Object.fromEntries(
    (['allowed-ips', 'denied-ips'] as const)
      .filter((name) => block[name].length > 0)
      .map((name) => [name, block[name]]),
  );
  const shared = {
    connection: block.connection,
    ipv6: yesNo(block.ipv6),
    protocol: block.protocol.map((name) => name.toUpperCase()),
    port: String(block.port),
    ...(local_ip === undefined ? {} : { local_ip }),
    ...filters,
  };
  if (block.connection === 'syslog') return { ...shared, rewrite_rfc5424: yesNo(block.rewrite_rfc5424) };
  return {
    ...shared,
    queue_size: String(block.queue_size),
    agents: { allow_higher_versions: yesNo(block.agents.allow_higher_versions) },
    connection_overtake_time: block.connection_overtake_time,
  };
}

function activeGlobal({ config }: RemotedSettings): Record<string, unknown> {
  const { agents_disconnection_time, agents_disconnection_alert_time } = config.global;
  return { agents_disconnection_time, agents_disconnection_alert_time };
}

/** Internal options that have an effect here. */
const USED_OPTIONS = [
  'recv_counter_flush',
  'verify_msg_id',
  'pass_empty_keyfile',
  'request_pool',
  'response_timeout',
  'request_rto_sec',
  'request_rto_msec',
  'max_attempts',
  'state_interval',
  'send_buffer_size',
  'send_timeout_to_retry',
  'tcp_keepidle',
  'control_msg_queue_size',
  'sender_pool',
  'shared_reload',
  'merge_shared',
] as const;

function activeInternal({ options }: RemotedSettings): Record<string, unknown> {
  return Object.fromEntries(USED_OPTIONS.map((name) => [name, options.get(`remoted.${name}`)]));
}

/** Sections of which something is another one than at the start that only a start takes up. */
function restartNeeded(before: RemotedSettings, after: RemotedSettings): readonly string[] {
  const fixed = ({ secure, config }: RemotedSettings): string =>
    JSON.stringify([
      secure === undefined ? null : [secure.port, secure.protocol, secure.ipv6, secure.local_ip, secure.queue_size],
      syslogBlocks(config.remote).map(listenerText),
    ]);
  const internal = (settings: RemotedSettings): string =>
    JSON.stringify([activeInternal(settings), downloadOptions(settings)]);
  return [
    ...(fixed(before) === fixed(after) ? [] : ['remote']),
    ...(internal(before) === internal(after) ? [] : ['internal_options']),
    ...(managerIdentity(before).node === managerIdentity(after).node && isClustered(before) === isClustered(after)
      ? []
      : ['cluster']),
  ];
}
