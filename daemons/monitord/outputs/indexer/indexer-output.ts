import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import type { ManagerConfig } from '../../../../lib/config/manager-config.js';
import type { Home } from '../../../../lib/home/home.js';
import { indexerSecretPath } from '../../../../lib/indexer/indexer-secret.js';
import { describeError } from '../../../../lib/log/describe-error.js';
import type { Logger } from '../../../../lib/log/logger.js';
import type { OutputDefinition } from '../alert-outputs.js';
import { DocumentMaker } from './alert-document.js';
import { IndexerAccount } from './indexer-account.js';
import { type IndexerCertificates, IndexerClient } from './indexer-client.js';
import { IndexerHosts } from './indexer-hosts.js';
import { IndexerReceiver, type IndexerReceiverParts } from './indexer-receiver.js';
import { IndexerSetup } from './indexer-setup.js';
import { RejectedAlerts } from './rejected-alerts.js';

type Sections = ManagerConfig<'global' | 'indexer' | 'cluster'>;
type Indexer = NonNullable<Sections['indexer']>;

const DEFAULT_HOST = 'http://localhost:9200';
const HEALTH = '/_cat/health?format=json';
const HEALTH_MS = 5000;
const SECOND_MS = 1000;

/** Which streams are indexed (indexer.md 4.1). */
const STREAMS = [
  { stream: 'alerts', prefix: 'wazuh-alerts-4.x-' },
  { stream: 'archives', prefix: 'wazuh-archives-4.x-' },
] as const;

export type IndexerOutputsContext = {
  readonly home: Home;
  readonly logger: Logger;
  /** As `IndexerReceiverParts.sleep`. */
  readonly sleep?: IndexerReceiverParts['sleep'];
};

/** The outputs that `<indexer>` asks for. */
export function indexerOutputs(config: Sections, { home, logger, sleep }: IndexerOutputsContext): OutputDefinition[] {
  const { indexer } = config;
  if (indexer?.enabled !== true) return [];
  const hosts = hostsOf(indexer);
  const node = config.cluster === undefined || config.cluster.disabled ? hostname() : config.cluster.node_name;
  return STREAMS.filter(
    ({ stream }) => indexer.options[stream] && (stream === 'alerts' || config.global.logall_json),
  ).map(({ stream, prefix }) => ({
    key: `indexer ${stream}`,
    name: stream === 'alerts' ? 'indexer' : `indexer ${stream}`,
    stream,
    settings: { indexer, node },
    receiver: () => indexerReceiver({ indexer, hosts, home, logger, sleep }, stream, new DocumentMaker(prefix, node)),
    announcement: `Indexing ${stream} at: '${hosts.join("', '")}'.`,
  }));
}

/** What of `<indexer>` cannot work, as messages without a place; alerts wait until it can. */
export function indexerProblems(config: Sections, home: Home): string[] {
  const { indexer, global } = config;
  if (indexer?.enabled !== true || !(indexer.options.alerts || indexer.options.archives)) return [];
  const problems: string[] = [];
  try {
    certificatesOf(indexer, home);
  } catch (error) {
    problems.push(`Nothing is indexed for now: ${describeError(error)}`);
  }
  if (indexer.options.archives && !global.logall_json) {
    problems.push("Archives are not indexed: '<logall_json>yes' of 'global' has them written.");
  }
  return problems;
}

/** @throws Error naming what cannot be read */
function certificatesOf({ ssl }: Indexer, home: Home): IndexerCertificates {
  const { certificate, key, certificate_authorities: authorities } = ssl;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error("'ssl' of 'indexer' needs 'certificate' and 'key', or neither of them.");
  }
  const read = (what: string, path: string): Buffer => {
    try {
      return readFileSync(isAbsolute(path) ? path : home.path(path));
    } catch (error) {
      throw new Error(`The ${what} '${path}' of 'indexer' cannot be read: ${describeError(error)}`, { cause: error });
    }
  };
  const ca = authorities.ca.map((path) => read('CA root certificate file', path));
  return {
    ...(ca.length === 0 ? {} : { ca }),
    ...(certificate === undefined || key === undefined
      ? {}
      : { cert: read('certificate', certificate), key: read('key', key) }),
  };
}

type IndexerContext = IndexerOutputsContext & { readonly indexer: Indexer; readonly hosts: readonly string[] };

function indexerReceiver(
  { indexer, hosts: names, home, logger, sleep }: IndexerContext,
  stream: 'alerts' | 'archives',
  documents: DocumentMaker,
): IndexerReceiver {
  const { batch_size: batchSize, flush_interval: flush, timeout, geoip } = indexer.options;
  const account = new IndexerAccount(indexerSecretPath(home), logger);
  const client = new IndexerClient({
    certificates: () => certificatesOf(indexer, home),
    authorization: () => account.header(),
  });
  const timeoutMs = timeout * SECOND_MS;
  const hosts = new IndexerHosts({
    hosts: names,
    health: (host, signal) => client.request({ host, method: 'GET', path: HEALTH, timeoutMs: HEALTH_MS, signal }),
    stamp: () => account.stamp,
    logger,
  });
  const setup = new IndexerSetup({
    ask: async (request) => {
      const host = await hosts.take(request.signal);
      try {
        return await client.request({ ...request, host });
      } catch (error) {
        request.signal.throwIfAborted();
        hosts.failed(host, describeError(error));
        throw error;
      }
    },
    geoip: geoip === 'pipeline',
    timeoutMs,
    logger,
  });
  return new IndexerReceiver({
    ...{ stream, documents, client, hosts, setup, logger, batchSize, timeoutMs, account },
    rejected: new RejectedAlerts(home.path('logs', 'indexer-rejected.json')),
    flushMs: flush * SECOND_MS,
    ...(sleep === undefined ? {} : { sleep }),
  });
}

function hostsOf({ hosts }: Indexer): readonly string[] {
  return hosts.host.length === 0 ? [DEFAULT_HOST] : hosts.host.map((host) => host.trim().replace(/\/+$/, ''));
}
