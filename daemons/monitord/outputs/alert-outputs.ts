import { pause } from '../../../lib/async/pause.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { AlertFeed } from '../../../lib/output/alert-feed.js';
import { AlertConsumer } from './alert-consumer.js';
import type { AlertReceiver } from './alert-receiver.js';
import type { ClusterOutputs } from './cluster/cluster-outputs.js';
import type { OutputStore } from './output-store.js';
import type { SharedOutputStore } from './shared-output-store.js';

/** Key of the output by mail. */
export const MAIL_KEY = 'mail';

/** Streams that outputs read: what svc-analysisd writes to `logs/alerts`, and to `logs/archives`. */
export type StreamName = 'alerts' | 'archives';

/** An output as the configuration asks for it. */
export type OutputDefinition = {
  /** Identifies it: kind and where to. Its position is kept under it, also when something else of it changes. */
  readonly key: string;
  /** As logs and statistics call it. */
  readonly name: string;
  /** What it takes; alerts where it does not say. */
  readonly stream?: StreamName;
  /** Everything it depends on: an output whose settings are the same goes on undisturbed at a reload. */
  readonly settings: unknown;
  /** Makes it; called when it begins. */
  readonly receiver: (store: OutputStore) => AlertReceiver;
  /** Said when it begins. */
  readonly announcement?: string;
};

export type AlertOutputsParts = {
  readonly feeds: Readonly<Record<StreamName, AlertFeed>>;
  readonly store: Pick<SharedOutputStore, 'get'>;
  /** Where outputs hand on the alerts of all nodes of a cluster. */
  readonly cluster?: Pick<ClusterOutputs, 'source' | 'follow' | 'neededFile'> | undefined;
  readonly logger: Logger;
};

/** When the store could not be opened, for want of space, say. */
const RETRY_MS = 10_000;

type RunningOutput = {
  readonly consumer: AlertConsumer;
  readonly name: string;
  readonly stream: StreamName;
  readonly settings: string;
};

/** The outputs of alerts that the configuration in force asks for (architecture.md 4 "Consumers of alerts"). */
export class AlertOutputs {
  readonly #parts: AlertOutputsParts;
  readonly #stopped = new AbortController();
  readonly #running = new Map<string, RunningOutput>();
  /** Whether anything of the store may have to be changed. */
  #usesStore = false;
  /** One change at a time. */
  #changing: Promise<void> = Promise.resolve();
  #wanted: readonly OutputDefinition[] = [];

  constructor(parts: AlertOutputsParts) {
    this.#parts = parts;
  }

  /**
   * Has the outputs follow a configuration: new ones begin at the end of the stream, changed ones go on at their position,
   * those that are gone forget theirs. A store that cannot be opened is tried again; nothing is thrown.
   * @returns resolves when that is done, or was tried once: what is alerted from then on goes to the new ones, too
   */
  follow(definitions: readonly OutputDefinition[]): Promise<void> {
    this.#wanted = definitions;
    return new Promise((tried) => {
      this.#changing = this.#changing.then(async () => {
        await this.#change(definitions, tried);
        tried();
      });
    });
  }

  /** A list, with their names, in the order of their beginning. */
  report(): Record<string, unknown>[] {
    return [...this.#running.values()].map(({ name, consumer }) => ({ name, ...consumer.stats() }));
  }

  /** By name. */
  stats(): Record<string, unknown> {
    return Object.fromEntries([...this.#running.values()].map(({ name, consumer }) => [name, consumer.stats()]));
  }

  /**
   * Files of a stream that outputs still have to read, relative to its directory; 'all' while one that is wanted has not begun.
   * What comes after these is needed as well.
   */
  neededFiles(stream: StreamName): readonly string[] | 'all' {
    const isMissing = (definition: OutputDefinition): boolean => !this.#running.has(definition.key);
    if (this.#wanted.some((definition) => streamOf(definition) === stream && isMissing(definition))) return 'all';
    const { cluster } = this.#parts;
    if (cluster !== undefined && stream === 'alerts') {
      return cluster.neededFile === 'all' ? 'all' : [cluster.neededFile];
    }
    return [...this.#running.values()]
      .filter((output) => output.stream === stream)
      .map(({ consumer }) => consumer.file);
  }

  /** Ends within a few seconds. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#changing;
    await Promise.all([...this.#running.values()].map(({ consumer }) => consumer.stop()));
  }

  async #change(definitions: readonly OutputDefinition[], tried: () => void): Promise<void> {
    const failures = this.#parts.logger.limited();
    while (!this.#stopped.signal.aborted && this.#wanted === definitions) {
      try {
        await this.#apply(definitions);
        return;
      } catch (error) {
        failures.error(`Alerts are not handed on: ${describeError(error)}`);
        tried();
        await pause(RETRY_MS, this.#stopped.signal);
      }
    }
  }

  /** @throws StoreError */
  async #apply(definitions: readonly OutputDefinition[]): Promise<void> {
    if (definitions.length === 0 && this.#running.size === 0 && !this.#usesStore) return;
    const store = await this.#parts.store.get();
    this.#usesStore = true;
    const wanted = new Map(definitions.map((definition) => [definition.key, definition]));
    for (const [key, { consumer, settings }] of this.#running) {
      const definition = wanted.get(key);
      if (definition !== undefined && textOf(definition) === settings) continue;
      await consumer.stop();
      this.#running.delete(key);
    }
    const positions = new Set(definitions.map((definition) => this.#positionKey(definition)));
    for (const key of store.keys()) if (!positions.has(key)) await store.forget(key);
    if (!wanted.has(MAIL_KEY)) {
      const dropped = await store.clearMails();
      if (dropped > 0) {
        this.#parts.logger.warn(`Mail is off: ${String(dropped)} alerts that waited for one are not mailed.`);
      }
    }
    for (const definition of definitions) {
      if (!this.#running.has(definition.key)) await this.#begin(definition, store);
    }
    await this.#parts.cluster?.follow(definitions.filter((it) => streamOf(it) === 'alerts').map(({ key }) => key));
  }

  /** A place among the alerts of all nodes is another one than among those of this node. */
  #positionKey(definition: OutputDefinition): string {
    const { key } = definition;
    return this.#parts.cluster !== undefined && streamOf(definition) === 'alerts' ? `cluster ${key}` : key;
  }

  async #begin(definition: OutputDefinition, store: OutputStore): Promise<void> {
    const { feeds, cluster, logger } = this.#parts;
    const { name, announcement } = definition;
    const stream = streamOf(definition);
    const feed = (stream === 'alerts' ? cluster?.source(definition.key, name) : undefined) ?? feeds[stream];
    const key = this.#positionKey(definition);
    const consumer = new AlertConsumer({ key, name, feed, store, receiver: definition.receiver(store), logger });
    await consumer.start();
    this.#running.set(definition.key, { consumer, name, stream, settings: textOf(definition) });
    if (announcement !== undefined) logger.info(announcement);
  }
}

function streamOf({ stream = 'alerts' }: OutputDefinition): StreamName {
  return stream;
}

function textOf({ settings }: OutputDefinition): string {
  return JSON.stringify(settings);
}
