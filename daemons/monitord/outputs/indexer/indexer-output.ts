import { hostname } from 'node:os';
import type { ManagerConfig } from '../../../../lib/config/manager-config.js';
import type { Home } from '../../../../lib/home/home.js';
import { describeError } from '../../../../lib/log/describe-error.js';
import type { Logger } from '../../../../lib/log/logger.js';
import type { OutputDefinition } from '../alert-outputs.js';
import { DocumentMaker } from './alert-document.js';
import { certificatesOf, connectIndexer, hostsOf, type IndexerSection } from './indexer-connection.js';
import { IndexerReceiver, type IndexerReceiverParts } from './indexer-receiver.js';
import { IndexerSetup } from './indexer-setup.js';
import { RejectedAlerts } from './rejected-alerts.js';

type Sections = ManagerConfig<'global' | 'indexer' | 'cluster'>;

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
    receiver: () => indexerReceiver({ indexer, home, logger, sleep }, stream, new DocumentMaker(prefix, node)),
    announcement: `Indexing ${stream} at: '${hosts.join("', '")}'.`,
  }));
}

/** What of `<indexer>` cannot work, as messages without a place; what is to be indexed waits until it can. */
export function indexerProblems(config: Sections, home: Home): string[] {
  const { indexer, global } = config;
  if (indexer?.enabled !== true) return [];
  const { alerts, archives, states } = indexer.options;
  if (!(alerts || archives || states)) return [];
  const problems: string[] = [];
  try {
    certificatesOf(indexer, home);
  } catch (error) {
    problems.push(`Nothing is indexed for now: ${describeError(error)}`);
  }
  if (archives && !global.logall_json) {
    problems.push("Archives are not indexed: '<logall_json>yes' of 'global' has them written.");
  }
  return problems;
}

type ReceiverContext = IndexerOutputsContext & { readonly indexer: IndexerSection };

function indexerReceiver(
  { indexer, home, logger, sleep }: ReceiverContext,
  stream: 'alerts' | 'archives',
  documents: DocumentMaker,
): IndexerReceiver {
  const { batch_size: batchSize, flush_interval: flush, geoip } = indexer.options;
  const connection = connectIndexer(indexer, home, logger);
  const { timeoutMs } = connection;
  return new IndexerReceiver({
    ...{ stream, documents, connection, logger, batchSize },
    setup: new IndexerSetup({ ask: connection.ask, geoip: geoip === 'pipeline', timeoutMs, logger }),
    rejected: new RejectedAlerts(home.path('logs', 'indexer-rejected.json')),
    flushMs: flush * SECOND_MS,
    ...(sleep === undefined ? {} : { sleep }),
  });
}
