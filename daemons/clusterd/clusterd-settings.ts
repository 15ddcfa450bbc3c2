import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { isAbsolute } from 'node:path';
import { natsTls, type NatsTlsMaterial } from '../../lib/cluster/nats-tls.js';
import { logConfigWarnings } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { ManagerConfig } from '../../lib/config/manager-config.js';
import { parseNatsAddress } from '../../lib/config/nats-address.js';
import { type ClusterConfig, clusterDefaults } from '../../lib/config/sections/cluster.js';
import type { DaemonSettings } from '../../lib/daemon/daemon-settings.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { AlertLimits } from './alerts/alert-stream.js';
import type { NatsSettings } from './nats/nats-link.js';

const SECTIONS = ['cluster', 'auth'] as const;
/** Copies of a stream where there are so many servers: one can be lost. With two servers both would be needed all the time. */
const MOST_REPLICAS = 3;
const MEGABYTE = 1024 ** 2;
const HOUR_MS = 3_600_000;

/** Configuration of svc-clusterd. All of it waits for a restart: another cluster is another one. */
export type ClusterdSettings = {
  readonly config: ManagerConfig<(typeof SECTIONS)[number]>;
  readonly cluster: ClusterConfig;
  readonly nats: Omit<NatsSettings, 'inboxPrefix' | 'name'>;
  readonly replicas: number;
  readonly alerts: { readonly shared: boolean; readonly limits: AlertLimits };
};

/** How svc-clusterd reads its configuration. */
export const SETTINGS: DaemonSettings<ClusterdSettings> = {
  load: ({ home }) => load(home),
  logWarnings,
  takeOver: (_next, current) => current,
  restartNeeded: (next, { started }) => (shape(next) === shape(started) ? [] : ['cluster']),
};

const shape = ({ cluster, nats }: ClusterdSettings): string => JSON.stringify([cluster, nats]);

/** @throws ConfigError with file and line; Error for a file that cannot be read */
function load(home: Home): ClusterdSettings {
  const config = loadManagerConfig(home, SECTIONS);
  const cluster = config.cluster ?? clusterDefaults();
  const replicas = cluster.nats.replicas ?? (cluster.nodes.node.length >= MOST_REPLICAS ? MOST_REPLICAS : 1);
  const { outputs, megabytes, hours } = cluster.alerts;
  return {
    config,
    cluster,
    nats: cluster.disabled ? { servers: [], tls: undefined, seed: undefined } : natsSettings(home, cluster),
    replicas,
    alerts: { shared: outputs === 'cluster', limits: { replicas, bytes: megabytes * MEGABYTE, ms: hours * HOUR_MS } },
  };
}

function logWarnings({ config, cluster }: ClusterdSettings, logger: Logger): void {
  logConfigWarnings(ownWarnings(config.warnings, 'svc-clusterd'), logger);
  if (!cluster.disabled && config.auth?.disabled !== false) {
    logger.warn(
      `Section 'auth' is missing or disabled in '${config.file}': agents that enrol at other nodes of the cluster are not let in here. ` +
        '<remote_enrollment>no</remote_enrollment> closes the port and keeps svc-authd.',
    );
  }
}

function natsSettings(home: Home, { nodes, nats }: ClusterConfig): ClusterdSettings['nats'] {
  // The section was checked: each is an address, and all are reached the same way.
  const servers = nodes.node.flatMap((node) => parseNatsAddress(node) ?? []);
  const plain = servers.every(({ tls }) => !tls);
  const read = (path: string, what: string) => readText(home, path, what);
  const seed = nats.credential;
  const hosts = servers.map(({ host }) => host);
  return {
    servers: servers.map(({ host, port }) => (isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`)),
    tls: plain ? undefined : natsTls(hosts, tlsMaterial(nats, read)),
    seed: plain && !exists(home, seed) ? undefined : Buffer.from(read(seed, 'credential').trim()),
  };
}

function tlsMaterial(
  { ca, certificate, certificate_key: key }: ClusterConfig['nats'],
  read: (path: string, what: string) => string,
): NatsTlsMaterial {
  return {
    ca: read(ca, 'ca'),
    ...(certificate === undefined ? {} : { cert: read(certificate, 'certificate') }),
    ...(key === undefined ? {} : { key: read(key, 'certificate_key') }),
  };
}

function exists(home: Home, path: string): boolean {
  try {
    readText(home, path, '');
    return true;
  } catch {
    return false;
  }
}

function readText(home: Home, path: string, element: string): string {
  try {
    return readFileSync(isAbsolute(path) ? path : home.path(path), 'utf8');
  } catch (error) {
    const hint = "'svc-control cluster join' puts it there";
    throw new Error(`Section 'cluster': <${element}> of <nats> cannot be read: ${describeError(error)} (${hint}).`, {
      cause: error,
    });
  }
}
