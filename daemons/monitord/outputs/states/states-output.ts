import { pause } from '../../../../lib/async/pause.js';
import type { Home } from '../../../../lib/home/home.js';
import { describeError } from '../../../../lib/log/describe-error.js';
import type { Logger } from '../../../../lib/log/logger.js';
import { connectIndexer, hostsOf, type IndexerConnection } from '../indexer/indexer-connection.js';
import { RejectedAlerts } from '../indexer/rejected-alerts.js';
import type { OutputStore } from '../output-store.js';
import type { SharedOutputStore } from '../shared-output-store.js';
import { StateAgents, type StatesSource } from './state-agents.js';
import { StateCopy } from './state-copy.js';
import { StateDocuments } from './state-document.js';
import { StateIndices } from './state-indices.js';
import { StateRequests } from './state-requests.js';
import { StateRows } from './state-rows.js';
import { StateWriter } from './state-writer.js';
import { StatesFeed } from './states-feed.js';
import { indexSuffix, type StatesSettings } from './states-settings.js';
import type { StatesStore } from './states-store.js';

export type StatesOutputParts = {
  readonly db: StatesSource;
  readonly store: Pick<SharedOutputStore, 'get'>;
  readonly home: Home;
  readonly logger: Logger;
  /** Milliseconds of a steady clock. */
  readonly now?: () => number;
  /** Replaces pauses: tests. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** As logs and statistics call it. */
const NAME = 'indexer states';
const SECOND_MS = 1000;
/** Pauses between tries: the first, and the longest. Each is twice the one before. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Up to so much of a pause is added at random, so that managers do not all come back at the same moment. */
const JITTER = 0.25;

type Parts = {
  readonly feed: StatesFeed;
  readonly writer: StateWriter;
  readonly copy: StateCopy;
  readonly agents: StateAgents;
  readonly connection: IndexerConnection;
};

/**
 * Has the inventories of all agents in the indices that dashboards read (indexer.md 3): as long as `<indexer>` asks for it, and
 * again and again while the search engine or svc-db is away. Nobody is told of changes when it does not.
 */
export class StatesOutput {
  readonly #parts: StatesOutputParts;
  /** Of what runs. */
  #ended = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** What it runs with; undefined before the first. */
  #settings: string | undefined;
  #current: Parts | undefined;
  #failed = 0;
  #failuresInRow = 0;
  /** Since when there is something that is not indexed, milliseconds of the clock. */
  #behindSince: number | undefined;

  constructor(parts: StatesOutputParts) {
    this.#parts = parts;
  }

  /** Follows the configuration; what does not change goes on undisturbed. */
  follow(settings: StatesSettings | undefined): void {
    const text = JSON.stringify(settings) ?? '';
    if (text === this.#settings) return;
    this.#settings = text;
    this.#ended.abort();
    const ended = new AbortController();
    this.#ended = ended;
    this.#running = this.#running.then(() =>
      settings === undefined ? this.#unfollow(ended.signal) : this.#run(settings, ended.signal),
    );
  }

  /** A list with its name, empty when no states are sent. */
  report(): Record<string, unknown>[] {
    return Object.entries(this.stats()).map(([name, stats]) => ({ name, ...stats }));
  }

  /** By name; empty when no states are sent. */
  stats(): Record<string, Record<string, unknown>> {
    if (this.#current === undefined) return {};
    const { writer, connection, copy, agents } = this.#current;
    const since = this.#behindSince;
    const seconds = since === undefined ? 0 : Math.round((this.#now() - since) / SECOND_MS);
    return {
      [NAME]: {
        ...writer.stats(),
        failed: this.#failed,
        available: this.#failuresInRow === 0,
        lag: { bytes: 0, seconds },
        tables_to_copy: copy.left,
        agents_to_rewrite: agents.outdated,
        requests: connection.bulk.requests,
        available_hosts: connection.hosts.available,
      },
    };
  }

  /** Ends within a few seconds; who follows stays known to svc-db. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  #now(): number {
    return (this.#parts.now ?? (() => performance.now()))();
  }

  async #run(settings: StatesSettings, signal: AbortSignal): Promise<void> {
    this.#failuresInRow = 0;
    this.#behindSince = this.#now();
    while (!signal.aborted) {
      try {
        this.#current ??= this.#make(settings, await this.#parts.store.get());
        await this.#work(this.#current, settings, signal);
      } catch (error) {
        if (signal.aborted) break;
        await this.#failedWith(error, signal);
      }
    }
    this.#current?.connection.close();
    this.#current = undefined;
  }

  /** Until it fails, or is to end. */
  async #work({ feed, connection }: Parts, { indexer }: StatesSettings, signal: AbortSignal): Promise<void> {
    feed.reset();
    while (!signal.aborted) {
      connection.bulk.throwWhileRefused();
      const begun = this.#now();
      const more = await feed.turn(signal);
      this.#succeeded();
      if (more) {
        this.#behindSince ??= begun;
        continue;
      }
      this.#behindSince = undefined;
      await this.#sleep(indexer.options.flush_interval * SECOND_MS, signal);
    }
  }

  #make({ indexer, origin }: StatesSettings, opened: OutputStore): Parts {
    const { home, logger, db } = this.#parts;
    const store: StatesStore = opened.states;
    const batchSize = indexer.options.batch_size;
    const connection = connectIndexer(indexer, home, logger);
    const now = (): number => this.#now();
    const requests = new StateRequests(connection.ask, origin.node);
    const writer = new StateWriter({
      bulk: connection.bulk,
      requests,
      rejected: new RejectedAlerts(home.path('logs', 'indexer-rejected.json')),
      logger,
      sleep: (milliseconds, signal) => this.#sleep(milliseconds, signal),
    });
    const agents = new StateAgents(db, store);
    const indices = new StateIndices({ ask: connection.ask, store, suffix: indexSuffix(origin), logger });
    const documents = new StateDocuments(origin);
    const rows = new StateRows({ db, agents, documents, indices, writer, batchSize });
    const copy = new StateCopy({ db, store, agents, indices, requests, rows, writer, batchSize, now });
    const basis = JSON.stringify(origin);
    const feed = new StatesFeed({ db, store, agents, indices, rows, copy, writer, basis, batchSize, now });
    logger.info(`Indexing inventories at: '${hostsOf(indexer).join("', '")}'.`);
    return { feed, writer, copy, agents, connection };
  }

  /** Tells svc-db that nobody follows: it notes no changes then. */
  async #unfollow(signal: AbortSignal): Promise<void> {
    this.#failuresInRow = 0;
    this.#behindSince = undefined;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        await this.#parts.db.call('inventory.unfollow', {}, { signal });
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.logger.debug(`svc-db is not told that inventories are not indexed: ${describeError(error)}`);
        await this.#sleep(pauseMs, signal);
      }
    }
  }

  #succeeded(): void {
    if (this.#failuresInRow > 0) this.#parts.logger.info('Inventories are sent to the indexer again.');
    this.#failuresInRow = 0;
  }

  async #failedWith(error: unknown, signal: AbortSignal): Promise<void> {
    this.#failed += 1;
    this.#failuresInRow += 1;
    this.#behindSince ??= this.#now();
    if (this.#failuresInRow === 1) {
      this.#parts.logger.warn(
        `Inventories are not sent to the indexer for now: ${describeError(error)}. They wait, and it is tried again.`,
      );
    }
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failuresInRow - 1), LONGEST_PAUSE_MS);
    await this.#sleep(pauseMs * (1 + Math.random() * JITTER), signal);
  }

  #sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    return (this.#parts.sleep ?? pause)(milliseconds, signal);
  }
}
