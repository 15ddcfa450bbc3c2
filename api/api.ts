import type { Home } from '../lib/home/home.js';
import type { Logger } from '../lib/log/logger.js';
import { ensureInitialPassword } from '../lib/security/initial-password.js';
import { ensureSelfSignedCertificate } from '../lib/tls/self-signed-certificate.js';
import type { ApiSettings } from './api-settings.js';
import { Authenticator } from './auth/authenticator.js';
import { PasswordHasher, type ScryptCost } from './auth/password-hasher.js';
import { SecuritySettings } from './auth/security-settings.js';
import { SigningKeys } from './auth/signing-keys.js';
import { TokenService } from './auth/token-service.js';
import { CertificateWatch } from './certificate-watch.js';
import { loadContract, type Operation } from './contract/contract.js';
import { Router } from './contract/router.js';
import { SchemaChecker } from './contract/schema-checker.js';
import { AccessGuards } from './http/access-guards.js';
import { ApiConnections } from './http/api-connections.js';
import { ApiLog } from './http/api-log.js';
import type { Handlers } from './http/api-request.js';
import { ApiServer, type BoundHost, CONNECTION_TIMES, type ConnectionTimes } from './http/api-server.js';
import { createApp } from './http/create-app.js';
import { Dispatcher } from './http/dispatcher.js';
import { documentationPages } from './http/docs-page.js';
import { errorCatalogue } from './http/error-catalogue.js';
import { RequestCounters } from './http/request-counters.js';
import { ADMINISTRATOR_ROLE, DEFAULT_USERS } from './rbac/default-objects.js';
import type { User } from './rbac/rbac-model.js';
import { RbacStore } from './rbac/rbac-store.js';
import { infoRoutes } from './routes/info-routes.js';
import { loginRoutes } from './routes/login-routes.js';

/** How long running requests may go on after a stop, milliseconds; the lifecycle allows 4.5 s. */
const DRAIN_MS = 3000;

export type ApiOptions = {
  readonly home: Home;
  readonly settings: ApiSettings;
  readonly logger: Logger;
  /** Handlers of the operations that ask other parts of the product. */
  readonly handlers: readonly Handlers[];
  /** Name of this node, for `dapi_errors`. */
  readonly node: () => string;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic?: () => number;
  readonly passwordCost?: ScryptCost;
  readonly connectionTimes?: ConnectionTimes;
};

/** The HTTPS API, put together: read top-down this is the list of its parts. */
export class Api {
  #settings: ApiSettings;
  readonly #store: RbacStore;
  readonly #log: ApiLog;
  readonly #guards: AccessGuards;
  readonly #server: ApiServer;
  readonly #operations: readonly Operation[];
  readonly #dispatcher: Dispatcher;
  readonly #counters: RequestCounters;
  readonly #connections: ApiConnections;
  readonly #watch: CertificateWatch | undefined;
  readonly addresses: readonly BoundHost[];

  private constructor(parts: {
    settings: ApiSettings;
    store: RbacStore;
    log: ApiLog;
    guards: AccessGuards;
    server: ApiServer;
    operations: readonly Operation[];
    dispatcher: Dispatcher;
    counters: RequestCounters;
    connections: ApiConnections;
    addresses: readonly BoundHost[];
    watch: CertificateWatch | undefined;
  }) {
    this.#settings = parts.settings;
    this.#store = parts.store;
    this.#log = parts.log;
    this.#guards = parts.guards;
    this.#server = parts.server;
    this.#operations = parts.operations;
    this.#dispatcher = parts.dispatcher;
    this.#counters = parts.counters;
    this.#connections = parts.connections;
    this.addresses = parts.addresses;
    this.#watch = parts.watch;
  }

  /**
   * Opens the stores, makes keys and certificate where they are missing, and listens.
   * @throws ApiStartError, RbacStoreError or the file system's error when the API cannot start
   */
  static async start(options: ApiOptions): Promise<Api> {
    const { home, logger } = options;
    const now = options.now ?? Date.now;
    const monotonic = options.monotonic ?? (() => performance.now());
    let current: () => ApiSettings = () => options.settings;
    const { settings } = options;

    const log = new ApiLog(
      home.path('logs'),
      settings.logs,
      () => new Date(now()),
      (error) => logger.error(`A rotated API log could not be compressed: ${String(error)}`),
    );
    log.open();

    const security = (name: string) => home.path('api', 'configuration', 'security', name);
    const hasher = new PasswordHasher(settings.authenticationPoolSize, options.passwordCost);
    const store = await RbacStore.open(security('rbac'), () => builtInUsers(security, hasher, logger));
    try {
      const keys = new SigningKeys(security('private_key.pem'), security('public_key.pem'));
      await keys.ensure();
      const securitySettings = new SecuritySettings(home, logger);
      const tokens = new TokenService(keys, now);

      // A broken installation is said at the start, not in the first answer that needs it.
      errorCatalogue();
      const contract = loadContract();
      const dispatcher = new Dispatcher(
        [infoRoutes(() => new Date(now())), loginRoutes(store, tokens, securitySettings), ...options.handlers],
        () => current().requestTimeoutMs,
        options.node,
        logger,
      );
      const pages = documentationPages(contract, (operation) => dispatcher.has(operation));
      const guards = new AccessGuards(settings.access, monotonic);
      const connections = new ApiConnections(logger);
      const counters = new RequestCounters();
      const app = createApp({
        settings: () => current(),
        router: new Router(contract.operations),
        pages: () => (current().docs ? pages : new Map()),
        checker: new SchemaChecker(home.root),
        authenticator: new Authenticator(store, tokens, hasher, securitySettings),
        guards,
        connections,
        dispatcher,
        counters,
        log,
        logger,
        monotonic,
      });

      if (settings.https !== undefined) await ensureSelfSignedCertificate(settings.https, logger, new Date(now()));
      const times = options.connectionTimes ?? CONNECTION_TIMES;
      const server = new ApiServer(app, settings.https, logger, connections, times);
      const addresses = await server.start(settings.hosts, settings.port);
      const watch =
        settings.https === undefined ? undefined : new CertificateWatch(settings.https.certificate, logger, now);
      watch?.announce();
      const where = `Listening on ${addresses.map(({ host }) => host).join(', ')}:${addresses[0]?.port ?? 0}.`;
      log.info(where);
      logger.info(where);
      const api = new Api({
        settings,
        store,
        log,
        guards,
        server,
        operations: contract.operations,
        dispatcher,
        counters,
        connections,
        addresses,
        watch,
      });
      current = () => api.#settings;
      return api;
    } catch (error) {
      await store.close();
      await log.close();
      throw error;
    }
  }

  /** Counters since the start. */
  stats(): Record<string, unknown> {
    return {
      requests: this.#counters.toObject(),
      tls_errors: this.#server.tlsErrors,
      connections_refused: this.#connections.refused,
    };
  }

  /** Operations of the contract that this version does not have. */
  missingOperations(): readonly Operation[] {
    return this.#operations.filter((operation) => !this.#dispatcher.has(operation));
  }

  /**
   * Takes new settings and reads the certificate again.
   * @returns names of settings that changed and need a restart
   * @throws ApiStartError when the certificate cannot be used; nothing changes then
   */
  reload(settings: ApiSettings): readonly string[] {
    this.#server.reloadCertificate();
    this.#watch?.announce();
    const restart = restartNeeded(this.#settings, settings);
    const { hosts, port, https, authenticationPoolSize, logs } = this.#settings;
    this.#settings = { ...settings, hosts, port, https, authenticationPoolSize, logs };
    this.#guards.update(settings.access);
    return restart;
  }

  /** Lets running requests end, closes the stores. */
  async stop(): Promise<void> {
    this.#watch?.stop();
    await this.#server.stop(DRAIN_MS);
    await this.#store.close();
    this.#log.info('Shutdown svc-apid server.');
    await this.#log.close();
  }
}

/** Settings of api.yaml that are looked at only once. */
function restartNeeded(old: ApiSettings, fresh: ApiSettings): readonly string[] {
  const once = ['hosts', 'port', 'https', 'authenticationPoolSize', 'logs'] as const;
  const names = { hosts: 'host', port: 'port', https: 'https', authenticationPoolSize: 'authentication_pool_size' };
  return once
    .filter((key) => JSON.stringify(old[key]) !== JSON.stringify(fresh[key]))
    .map((key) => (key === 'logs' ? 'logs' : names[key]));
}

async function builtInUsers(
  security: (name: string) => string,
  hasher: PasswordHasher,
  logger: Logger,
): Promise<readonly User[]> {
  return Promise.all(
    DEFAULT_USERS.map(async ({ id, name, passwordFile }) => {
      const path = security(passwordFile);
      const passwordHash = await hasher.hash(ensureInitialPassword(path));
      logger.info(`The first password of API user '${name}' is in ${path}`);
      return { id, name, allowRunAs: true, passwordHash, roles: [ADMINISTRATOR_ROLE] };
    }),
  );
}
