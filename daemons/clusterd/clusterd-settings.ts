import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { logConfigWarnings } from '../../lib/config/config-error.js';
import { ownWarnings } from '../../lib/config/effects/own-warnings.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { ManagerConfig } from '../../lib/config/manager-config.js';
import { type ClusterConfig, clusterDefaults } from '../../lib/config/sections/cluster.js';
import type { DaemonSettings } from '../../lib/daemon/daemon-settings.js';
import type { Home } from '../../lib/home/home.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { NatsSettings } from './nats/nats-link.js';

const SECTIONS = ['cluster'] as const;
/** Port of NATS servers whose address has none. */
const NATS_PORT = 4222;
/** Copies of a stream where the configuration names none: one of three can be lost. */
const MOST_REPLICAS = 3;

/** Configuration of svc-clusterd. All of it waits for a restart: another cluster is another one. */
export type ClusterdSettings = {
  readonly config: ManagerConfig<(typeof SECTIONS)[number]>;
  readonly cluster: ClusterConfig;
  readonly nats: Omit<NatsSettings, 'inboxPrefix' | 'name'>;
  readonly replicas: number;
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
  return {
    config,
    cluster,
    nats: cluster.disabled ? { servers: [], tls: undefined, seed: undefined } : natsSettings(home, cluster),
    replicas: cluster.nats.replicas ?? Math.min(MOST_REPLICAS, Math.max(1, cluster.nodes.node.length)),
  };
}

function logWarnings({ config }: ClusterdSettings, logger: Logger): void {
  logConfigWarnings(ownWarnings(config.warnings, 'svc-clusterd'), logger);
}

function natsSettings(home: Home, { nodes, nats }: ClusterConfig): ClusterdSettings['nats'] {
  const servers = nodes.node.map(serverOf);
  const plain = servers.filter(({ tls }) => !tls);
  if (plain.length > 0 && plain.length < servers.length) {
    throw new Error("Section 'cluster': either all <node> are reached by tls:// or none.");
  }
  const far = plain.find(({ host }) => !isLoopback(host));
  if (far !== undefined) {
    throw new Error(
      `Section 'cluster': <node> ${far.host} is another host: it must be reached by tls://, not nats://.`,
    );
  }
  const read = (path: string, what: string) => readText(home, path, what);
  const seed = nats.credential;
  return {
    servers: servers.map(({ host, port }) => (isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`)),
    tls:
      plain.length > 0
        ? undefined
        : {
            ca: read(nats.ca, 'ca'),
            ...(nats.certificate === undefined ? {} : { cert: read(nats.certificate, 'certificate') }),
            ...(nats.certificate_key === undefined ? {} : { key: read(nats.certificate_key, 'certificate_key') }),
          },
    seed: plain.length > 0 && !exists(home, seed) ? undefined : Buffer.from(read(seed, 'credential').trim()),
  };
}

type Server = { readonly tls: boolean; readonly host: string; readonly port: number };

/** `tls://host:port`, `nats://host:port`, `host:port` or `host`. */
function serverOf(node: string): Server {
  const { scheme = 'tls', rest } = /^(?:(?<scheme>tls|nats):\/\/)?(?<rest>[^/]+)\/?$/.exec(node)?.groups ?? {};
  const { host, bracketed, port } =
    /^(?:\[(?<bracketed>[0-9A-Fa-f:.]+)\]|(?<host>[^[\]:]+))(?::(?<port>\d{1,5}))?$/.exec(rest ?? '')?.groups ?? {};
  const name = bracketed ?? host ?? (isIP(rest ?? '') === 6 ? rest : undefined);
  const number = port === undefined ? NATS_PORT : Number(port);
  if (name === undefined || number < 1 || number > 65_535) {
    throw new Error(`Section 'cluster': <node> ${node} is no address of a NATS server: tls://HOST:PORT.`);
  }
  return { tls: scheme === 'tls', host: name, port: number };
}

function isLoopback(host: string): boolean {
  return host === '::1' || /^127\./.test(host);
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
