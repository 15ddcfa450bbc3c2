import { jetstream, type JetStreamClient, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { pause } from '../../../lib/async/pause.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { NatsTls } from '../../../lib/cluster/nats-tls.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';

/** How the servers are reached. */
export type NatsSettings = {
  /** `host:port`. */
  readonly servers: readonly string[];
  /** Undefined: without TLS. */
  readonly tls: NatsTls | undefined;
  /** Seed of the node's NKey; undefined: no login. */
  readonly seed: Uint8Array | undefined;
  readonly inboxPrefix: string;
  readonly name: string;
};

/** What is there while the connection is. */
export type NatsSession = { readonly nc: NatsConnection; readonly js: JetStreamClient; readonly jsm: JetStreamManager };

type Listener = (session: NatsSession) => void;

/** Between two tries of a first connection, milliseconds. */
const RETRY_MS = 1000;
const CONNECT_MS = 5000;
/** A connection over which nothing comes for two of these is given up, milliseconds. */
const PING_MS = 3000;
/** That there is still no connection is said once in so long, milliseconds: each server may fail for a reason of its own. */
const SAY_MS = 600_000;
/** How often it is looked at the clock, and how far it was set back that it is of importance, milliseconds. */
const CLOCK_MS = 1000;
/** A request of JetStream; a quorum that elects a leader takes some seconds. */
const REQUEST_MS = 4000;

/**
 * The connection of this node to NATS, made again for as long as the daemon runs. A session is one object of the client
 * library, which connects to another server by itself when one is lost; only when it gives up is there a new one.
 */
export class NatsLink {
  readonly #settings: NatsSettings;
  readonly #logger: Logger;
  readonly #listeners: Listener[] = [];
  readonly #mendedListeners: (() => void)[] = [];
  readonly #stopped = new AbortController();
  #session: NatsSession | undefined;
  #up = false;
  #problem: string | undefined = 'not connected yet';
  #saidAt: number | undefined;
  #downAt = -Infinity;
  #running: Promise<void> | undefined;

  constructor(settings: NatsSettings, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
  }

  get connected(): boolean {
    return this.#up;
  }

  /** For how long there has been none, milliseconds; 0 while there is one. */
  get downForMs(): number {
    return this.#up ? 0 : performance.now() - this.#downAt;
  }

  /** Why there is no connection. */
  get problem(): string | undefined {
    return this.#up ? undefined : this.#problem;
  }

  /** Told of each new session, in the order of registration; a lost and mended connection is the same one. */
  onSession(listener: Listener): void {
    this.#listeners.push(listener);
    if (this.#session !== undefined) listener(this.#session);
  }

  /** Told when a lost connection is mended, by whichever server. */
  onMended(listener: () => void): void {
    this.#mendedListeners.push(listener);
  }

  /** @throws BusError `cluster_unavailable` */
  session(): NatsSession {
    if (this.#session === undefined || !this.#up) {
      throw new BusError('cluster_unavailable', `No connection to NATS: ${this.#problem ?? 'it was lost'}`);
    }
    return this.#session;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#session?.nc.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        const nc = await this.#connect();
        if (signal.aborted) {
          await nc.close();
          return;
        }
        await this.#begin(nc);
        const clock = this.#lookAtClock(nc);
        const [error] = await Promise.all([nc.closed(), this.#watch(nc)]).finally(() => {
          clearInterval(clock);
        });
        this.#session = undefined;
        if (!signal.aborted) this.#down(error === undefined ? 'the connection was closed' : describeError(error));
      } catch (error) {
        if (!signal.aborted) this.#down(describeError(error));
      }
      await pause(RETRY_MS, signal);
    }
  }

  #connect(): Promise<NatsConnection> {
    const { servers, tls, seed, inboxPrefix, name } = this.#settings;
    return connect({
      servers: [...servers],
      name,
      inboxPrefix,
      timeout: CONNECT_MS,
      pingInterval: PING_MS,
      maxPingOut: 2,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
      reconnectJitterTLS: 200,
      ignoreAuthErrorAbort: true,
      // A stack for each message that is published costs more than sealing it.
      noAsyncTraces: true,
      tls: tls === undefined ? null : { ...tls },
      ...(seed === undefined ? {} : { authenticator: nkeyAuthenticator(seed) }),
    });
  }

  async #begin(nc: NatsConnection): Promise<void> {
    const options = { timeout: REQUEST_MS, checkAPI: false };
    this.#session = { nc, js: jetstream(nc, options), jsm: await jetstreamManager(nc, options) };
    this.#mended();
    for (const listener of this.#listeners) listener(this.#session);
  }

  /**
   * When the library tries a server again it knows by the clock: after one that was set back it would wait for as long as that. A new
   * session knows of no try before.
   */
  #lookAtClock(nc: NatsConnection): NodeJS.Timeout {
    const clock = (): number => Date.now() - performance.now();
    let latest = clock();
    return setInterval(() => {
      const now = clock();
      latest = Math.max(latest, now);
      if (!this.#up && latest - now > CLOCK_MS) void nc.close();
    }, CLOCK_MS);
  }

  async #watch(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect' || status.type === 'staleConnection') this.#down('the connection was lost');
      else if (status.type === 'reconnect') this.#mended(this.#mendedListeners);
      else if (status.type === 'error') this.#logger.warn(`NATS: ${describeError(status.error)}`);
    }
  }

  #down(problem: string): void {
    const said = this.#saidAt !== undefined && performance.now() - this.#saidAt < SAY_MS;
    const news = this.#up || !said;
    if (this.#up) this.#downAt = performance.now();
    this.#up = false;
    this.#problem = problem;
    if (!news) return;
    this.#saidAt = performance.now();
    this.#logger.error(`No connection to NATS (${this.#settings.servers.join(', ')}): ${problem}.`);
  }

  #mended(listeners: readonly (() => void)[] = []): void {
    this.#up = true;
    this.#logger.info('Connected to NATS.');
    for (const listener of listeners) listener();
  }
}
