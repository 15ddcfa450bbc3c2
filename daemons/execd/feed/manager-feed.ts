import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonParts } from '../../../lib/daemon/daemon-parts.js';
import type { Home } from '../../../lib/home/home.js';
import type { Logger } from '../../../lib/log/logger.js';
import { Deliveries, RETRY_MS } from './deliveries.js';
import type { FeedStore } from './feed-store.js';
import { NodeLanes } from './node-lanes.js';
import { ResponseFeed, type ResponseFeedParts } from './response-feed.js';

export type ManagerFeedParts = Pick<ResponseFeedParts, 'accept' | 'node'> & {
  readonly home: Home;
  readonly store: FeedStore;
  readonly logger: Logger;
  /** This node's name in a cluster; undefined: it is in none. */
  readonly cluster: string | undefined;
};

/**
 * What a manager does about the decisions of its svc-analysisd: its own responses are run here, the others go to agents, to
 * those of other nodes of a cluster through these.
 */
export class ManagerFeed {
  readonly #feed: ResponseFeed;
  readonly #deliveries: Deliveries;

  /** @param parts the clients of other daemons are closed with them */
  constructor({ home, cluster: self, ...context }: ManagerFeedParts, parts: DaemonParts) {
    const now = (): number => Date.now();
    const analysisd = parts.use(new RequestClient({ contract: analysisdContract, path: home.socket('svc-analysisd') }));
    const db = parts.use(new RequestClient({ contract: dbContract, path: home.socket('svc-db') }));
    const remoted = parts.use(new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') }));
    const cluster = self === undefined ? undefined : { self, lanes: lanesOf(home, context.logger, parts) };
    this.#deliveries = new Deliveries({ ...context, db, remoted, cluster, now });
    this.#feed = new ResponseFeed({ ...context, analysisd, deliveries: this.#deliveries, now });
  }

  /** Counters for `stats`. */
  stats(): Record<string, unknown> {
    return { ...this.metrics(), position: this.#feed.position };
  }

  /** The part of `stats` that is counted. */
  metrics(): Record<string, unknown> {
    return {
      decisions: { ...this.#feed.counts },
      deliveries: { ...this.#deliveries.counts, waiting: this.#deliveries.waiting },
      lag_seconds: this.#feed.lagSeconds,
    };
  }

  /** @param onFailure gets what should never be thrown */
  start(onFailure: (error: unknown) => void): void {
    this.#deliveries.start(onFailure);
    this.#feed.start(onFailure);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#feed.stop(), this.#deliveries.stop()]);
  }
}

function lanesOf(home: Home, logger: Logger, parts: DaemonParts): NodeLanes {
  const clusterd = parts.use(new RequestClient({ contract: clusterdContract, path: home.socket('svc-clusterd') }));
  return new NodeLanes({ clusterd, logger, retryMs: RETRY_MS });
}
