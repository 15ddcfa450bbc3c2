import type { ClusterdClient } from '../lib/cluster/shared-records.js';
import { type ApiContract, loadContract, type Operation } from '../lib/contract/api-contract.js';
import type { DaemonParts } from '../lib/daemon/daemon-parts.js';
import type { Home } from '../lib/home/home.js';
import type { Logger } from '../lib/log/logger.js';
import { ensureSelfSignedCertificate } from '../lib/tls/self-signed-certificate.js';
import type { ApiSettings } from './api-settings.js';
import { openAccessControl } from './auth/access-control.js';
import type { ScryptCost } from './auth/password-hasher.js';
import { type SecurityBackupHandlers, securityBackupHandlers } from './auth/security-backups.js';
import { CertificateWatch } from './certificate-watch.js';
import { type RelayHandlers, relayHandlers } from './cluster/relayed-calls.js';
import { consolePages } from './console/console-pages.js';
import { Router } from './contract/router.js';
import { SchemaChecker } from './contract/schema-checker.js';
import { documentationPages } from './docs/documentation-pages.js';
import { AccessGuards } from './http/access-guards.js';
import { ApiConnections } from './http/api-connections.js';
import { ApiLog } from './http/api-log.js';
import type { OperationHandlers } from './http/api-request.js';
import { ApiServer, type BoundHost, CONNECTION_TIMES, type ConnectionTimes } from './http/api-server.js';
import { createApp } from './http/create-app.js';
import { Dispatcher, type DispatcherParts } from './http/dispatcher.js';
import { errorCatalogue } from './http/error-catalogue.js';
import { EventStreams, type StreamTimes } from './http/event-stream.js';
import { RequestCounters } from './http/request-counters.js';
import type { NodeIdentity } from './manager/manager-configuration.js';
import { PermissionCheck } from './rbac/permission-check.js';
import { infoRoutes } from './routes/info-routes.js';
import { securityHandlers } from './security-handlers.js';

/** How long running requests may go on after a stop, milliseconds; the lifecycle allows 4.5 s. */
const DRAIN_MS = 3000;

export type ApiOptions = {
  readonly home: Home;
  readonly settings: ApiSettings;
  readonly logger: Logger;
  /** Handlers of the operations that ask other parts of the product. */
  readonly handlers: readonly OperationHandlers[];
  /** Refuses the others. */
  readonly missing: DispatcherParts['missing'];
  /** Has other nodes answer what concerns them. */
  readonly spreader: DispatcherParts['spreader'];
  /** This manager in the cluster. */
  readonly node: () => NodeIdentity;
  /** What is shared with the other nodes, on a node of a cluster. */
  readonly records?: ClusterdClient | undefined;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic?: () => number;
  readonly passwordCost?: ScryptCost;
  readonly connectionTimes?: ConnectionTimes;
  readonly streamTimes?: StreamTimes;
};

/** What of the API's parts is asked, or told, while it runs. */
export type ApiParts = {
  readonly contract: ApiContract;
  readonly dispatcher: Dispatcher;
  readonly counters: RequestCounters;
  readonly streams: EventStreams;
  readonly connections: ApiConnections;
  readonly guards: AccessGuards;
  readonly server: ApiServer;
  readonly watch: CertificateWatch | undefined;
  readonly handled: SecurityBackupHandlers & RelayHandlers;
  readonly addresses: readonly BoundHost[];
};

/** The HTTPS API as it runs. */
export class Api {
  readonly #parts: ApiParts;
  readonly #settings: SettingsHolder;

  constructor(parts: ApiParts, settings: SettingsHolder) {
    this.#parts = parts;
    this.#settings = settings;
  }

  get addresses(): readonly BoundHost[] {
    return this.#parts.addresses;
  }

  /** What svc-control asks of users and permissions, and other nodes for their callers. */
  get handlers(): SecurityBackupHandlers & RelayHandlers {
    return this.#parts.handled;
  }

  /** Counters since the start. */
  stats(): Record<string, unknown> {
    const { counters, server, connections, streams } = this.#parts;
    return {
      requests: counters.toObject(),
      tls_errors: server.tlsErrors,
      connections_refused: connections.refused,
      streams: streams.open,
    };
  }

  /** Operations of the contract that this version does not have. */
  missingOperations(): readonly Operation[] {
    const { contract, dispatcher } = this.#parts;
    return contract.operations.filter((operation) => !dispatcher.has(operation));
  }

  /**
   * Takes new settings and reads the certificate again. What is looked at only once stays (`withoutRestart`).
   * @throws ApiStartError when the certificate cannot be used; nothing changes then
   */
  reload(settings: ApiSettings): void {
    const { server, watch, guards } = this.#parts;
    server.reloadCertificate();
    watch?.announce();
    this.#settings.current = settings;
    guards.update(settings.access);
  }
}

/** The settings that requests are answered by: a reload exchanges them. */
type SettingsHolder = { current: ApiSettings };

/**
 * Puts the API together, read top-down the list of its parts: opens the stores, makes keys and certificate where they are
 * missing, and listens.
 * @throws ApiStartError, RbacStoreError or the file system's error when the API cannot start
 */
export async function startApi(options: ApiOptions, parts: DaemonParts): Promise<Api> {
  const { home, logger, settings, missing, node, spreader } = options;
  const now = options.now ?? Date.now;
  const date = () => new Date(now());
  const monotonic = options.monotonic ?? (() => performance.now());
  const holder: SettingsHolder = { current: settings };
  const inForce = () => holder.current;

  const log = openLog(home, settings, date, logger, parts);
  const access = await openAccessControl({ ...options, settings: inForce, now }, parts);

  // A broken installation is said at the start, not in the first answer that needs it.
  const errors = errorCatalogue();
  const contract = loadContract();
  const handlers = [
    infoRoutes(date),
    ...securityHandlers({ ...access, operations: contract.operations, logger }),
    ...options.handlers,
  ];
  const permissions = new PermissionCheck(contract.operations, node);
  const dispatcher = new Dispatcher({
    ...{ handlers, missing, permissions, spreader },
    settings: inForce,
    node: () => node().name,
    logger,
  });
  const documents = documentationPages(contract, errors, (operation) => dispatcher.has(operation));
  const console = onFirstUse(() => consolePages(logger));
  if (settings.console) console();
  const guards = new AccessGuards(settings.access, monotonic);
  const connections = new ApiConnections(logger);
  const counters = new RequestCounters();
  const streams = new EventStreams(options.streamTimes);
  const checker = new SchemaChecker(home.root);
  const app = createApp({
    settings: inForce,
    router: new Router(contract.operations),
    page: (path) =>
      (inForce().docs ? documents.get(path) : undefined) ?? (inForce().console ? console().get(path) : undefined),
    checker,
    authenticator: access.authenticator,
    guards,
    connections,
    dispatcher,
    streams,
    counters,
    log,
    logger,
    monotonic,
  });

  const { https } = settings;
  if (https !== undefined) await ensureSelfSignedCertificate(https, logger, date());
  const times = options.connectionTimes ?? CONNECTION_TIMES;
  const server = parts.adopt(new ApiServer(app, https, logger, connections, times), (one) => one.stop(DRAIN_MS));
  // Their ends come before that of the server, which waits for what it answers.
  parts.adopt(streams, (all) => all.stop());
  const addresses = await server.start(settings.hosts, settings.port);
  const watch = https === undefined ? undefined : parts.use(new CertificateWatch(https.certificate, logger, now));
  watch?.announce();
  const where = `Listening on ${addresses.map(({ host }) => host).join(', ')}:${addresses[0]?.port ?? 0}.`;
  log.info(where);
  logger.info(where);
  const { operations } = contract;
  const handled = {
    ...securityBackupHandlers({ ...access, logger, now }),
    ...relayHandlers({ operations, dispatcher, checker, logger, monotonic }),
  };
  return new Api(
    { contract, dispatcher, counters, streams, connections, guards, server, watch, addresses, handled },
    holder,
  );
}

/** For what a reload may turn on. */
function onFirstUse<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** The access log; the last that it is told is the stop, after everything else has ended. */
function openLog(home: Home, { logs }: ApiSettings, date: () => Date, logger: Logger, parts: DaemonParts): ApiLog {
  const log = new ApiLog(home.path('logs'), logs, date, (error) =>
    logger.error(`A rotated API log could not be compressed: ${String(error)}`),
  );
  log.open();
  return parts.adopt(log, async () => {
    log.info('Shutdown svc-apid server.');
    await log.close();
  });
}
