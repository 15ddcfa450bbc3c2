import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { ManagerConfig } from '../../../../lib/config/manager-config.js';
import type { Home } from '../../../../lib/home/home.js';
import { indexerSecretPath } from '../../../../lib/indexer/indexer-secret.js';
import { describeError } from '../../../../lib/log/describe-error.js';
import type { Logger } from '../../../../lib/log/logger.js';
import { BulkRequests } from './bulk-requests.js';
import { IndexerAccount } from './indexer-account.js';
import { type IndexerAnswer, type IndexerCertificates, IndexerClient, type IndexerRequest } from './indexer-client.js';
import { IndexerHosts } from './indexer-hosts.js';

/** Section `<indexer>`. */
export type IndexerSection = NonNullable<ManagerConfig<'indexer'>['indexer']>;

/** A request to whichever host is available. */
export type IndexerQuestion = Omit<IndexerRequest, 'host' | 'timeoutMs'> & { readonly timeoutMs?: number };

/** The way to a search engine. */
export type IndexerConnection = {
  readonly bulk: BulkRequests;
  readonly hosts: Pick<IndexerHosts, 'available'>;
  /** Asks whichever host is available. @throws Error when none is, or there is no answer */
  readonly ask: (question: IndexerQuestion) => Promise<IndexerAnswer>;
  readonly timeoutMs: number;
  readonly close: () => void;
};

const DEFAULT_HOST = 'http://localhost:9200';
const HEALTH = '/_cat/health?format=json';
const HEALTH_MS = 5000;
const SECOND_MS = 1000;

/** What `<indexer>` says of hosts, certificates and account. Nothing is asked yet. */
export function connectIndexer(indexer: IndexerSection, home: Home, logger: Logger): IndexerConnection {
  const account = new IndexerAccount(indexerSecretPath(home), logger);
  const client = new IndexerClient({
    certificates: () => certificatesOf(indexer, home),
    authorization: () => account.header(),
  });
  const timeoutMs = indexer.options.timeout * SECOND_MS;
  const hosts = new IndexerHosts({
    hosts: hostsOf(indexer),
    health: (host, signal) => client.request({ host, method: 'GET', path: HEALTH, timeoutMs: HEALTH_MS, signal }),
    stamp: () => account.stamp,
    logger,
  });
  return {
    bulk: new BulkRequests({ client, hosts, account, logger, timeoutMs }),
    hosts,
    ask: async (question) => {
      const host = await hosts.take(question.signal);
      try {
        return await client.request({ timeoutMs, ...question, host });
      } catch (error) {
        question.signal.throwIfAborted();
        hosts.failed(host, describeError(error));
        throw error;
      }
    },
    timeoutMs,
    close: () => {
      client.close();
    },
  };
}

/** In the order of the configuration. */
export function hostsOf({ hosts }: IndexerSection): readonly string[] {
  return hosts.host.length === 0 ? [DEFAULT_HOST] : hosts.host.map((host) => host.trim().replace(/\/+$/, ''));
}

/** @throws Error naming what cannot be read */
export function certificatesOf({ ssl }: IndexerSection, home: Home): IndexerCertificates {
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
