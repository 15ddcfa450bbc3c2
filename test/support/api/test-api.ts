import { mkdirSync, writeFileSync } from 'node:fs';
import { NewAlerts } from '../../../api/alerts/new-alerts.js';
import { type Api, type ApiOptions, startApi } from '../../../api/api.js';
import { apiHandlers } from '../../../api/api-handlers.js';
import type { ApiSettings } from '../../../api/api-settings.js';
import { watchedClient } from '../../../api/daemons/daemon-presence.js';
import { analysisdContract } from '../../../lib/bus/contracts/analysisd.js';
import { authdContract } from '../../../lib/bus/contracts/authd.js';
import { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { execdContract } from '../../../lib/bus/contracts/execd.js';
import { modulesdContract } from '../../../lib/bus/contracts/modulesd.js';
import { monitordContract } from '../../../lib/bus/contracts/monitord.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { ClusterdClient } from '../../../lib/cluster/shared-records.js';
import { DaemonParts } from '../../../lib/daemon/daemon-parts.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { testCatalogue } from '../daemon/test-catalogue.js';
import { RecordingLogger } from '../recording-logger.js';
import { TemporaryHome } from '../temporary-home.js';
import { httpRequest, type TestResponse } from './http-request.js';

export const TEST_PASSWORD = 'Secret-42-password';

export const TEST_SETTINGS: ApiSettings = {
  hosts: ['127.0.0.1'],
  port: 0,
  maxUploadSize: 10_485_760,
  authenticationPoolSize: 2,
  requestTimeoutMs: 10_000,
  docs: true,
  console: true,
  experimentalFeatures: false,
  daemonNames: 'svc',
  https: undefined,
  logs: { level: 'info', plain: true, json: true, maxSize: undefined },
  cors: undefined,
  access: { maxLoginAttempts: 50, blockSeconds: 300, maxRequestsPerMinute: 300 },
};

/** The API in this process over plain HTTP, with clocks that stand still until a test moves them. */
export class TestApi {
  readonly home = new TemporaryHome();
  readonly logger = new RecordingLogger();
  /** Epoch milliseconds. */
  now = Date.parse('2026-05-08T12:34:19.000Z');
  /** Milliseconds of the steady clock. */
  elapsed = 1000;
  /** Daemons this test's product has, all of them test-daemon.ts. */
  daemons: readonly DaemonName[] = ['svc-analysisd', 'svc-apid'];
  /** Whether svc-db is waited for however long it says nothing: where it computes in this process. */
  patient = false;
  /** Effective api.yaml, as it is shown. */
  apiConfig: object = {};
  /** svc-clusterd, in place of that of the home. */
  clusterd: ClusterdClient | undefined;
  #api: Api | undefined;
  #token: string | undefined;
  #parts = new DaemonParts();

  async start(
    settings: Partial<ApiSettings> = {},
    options: Partial<Pick<ApiOptions, 'handlers' | 'connectionTimes' | 'records' | 'streamTimes'>> = {},
  ): Promise<this> {
    mkdirSync(this.home.path('api', 'configuration', 'security'), { recursive: true });
    const passwordFile = this.home.path('api', 'configuration', 'security', 'initial-admin-password');
    writeFileSync(passwordFile, `${TEST_PASSWORD}\n`, { mode: 0o600 });
    writeFileSync(this.home.path('etc', 'manager.conf'), '<manager_config></manager_config>\n');
    await this.open(settings, options);
    return this;
  }

  /** Starts again on the same home. */
  async open(
    settings: Partial<ApiSettings> = {},
    options: Partial<Pick<ApiOptions, 'handlers' | 'connectionTimes' | 'records' | 'streamTimes'>> = {},
  ): Promise<void> {
    const { home, logger } = this;
    const monitord = watchedClient(home, monitordContract);
    const analysisd = watchedClient(home, analysisdContract);
    const db = this.patient
      ? new RequestClient({ contract: dbContract, path: home.socket('svc-db') })
      : watchedClient(home, dbContract);
    const authd = watchedClient(home, authdContract);
    const remoted = watchedClient(home, remotedContract);
    const modulesd = watchedClient(home, modulesdContract);
    const execd = watchedClient(home, execdContract);
    const clusterd = watchedClient(home, clusterdContract);
    const waiting = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
    const news = new NewAlerts(waiting);
    const outlet = new EventProducer({ path: home.eventsSocket(), daemon: 'svc-apid', logger });
    outlet.start();
    this.#parts = new DaemonParts();
    for (const client of [monitord, analysisd, db, authd, remoted, modulesd, execd, clusterd, waiting]) {
      this.#parts.use(client);
    }
    this.#parts.use(news);
    this.#parts.defer(() => outlet.close(0));
    const { handlers, ...others } = apiHandlers({
      home,
      logger,
      monitord,
      analysisd,
      db,
      news,
      authd,
      remoted,
      modulesd,
      execd,
      clusterd: this.clusterd ?? clusterd,
      outlet,
      catalogue: testCatalogue(this.daemons),
      apiConfig: () => this.apiConfig,
      settings: () => ({ ...TEST_SETTINGS, ...settings }),
      now: () => this.now,
      monotonic: () => this.elapsed,
    });
    this.#api = await startApi(
      {
        home,
        settings: { ...TEST_SETTINGS, ...settings },
        logger,
        handlers: [...handlers, ...(options.handlers ?? [])],
        ...others,
        now: () => this.now,
        monotonic: () => this.elapsed,
        passwordCost: { N: 16, r: 1, p: 1 },
        records: options.records,
        ...(options.streamTimes === undefined ? {} : { streamTimes: options.streamTimes }),
        ...(options.connectionTimes === undefined ? {} : { connectionTimes: options.connectionTimes }),
      },
      this.#parts,
    );
  }

  get api(): Api {
    if (this.#api === undefined) throw new Error('not started');
    return this.#api;
  }

  get port(): number {
    return this.api.addresses[0]?.port ?? 0;
  }

  /** A request without any credentials. */
  request(
    method: string,
    path: string,
    options: { headers?: Record<string, string>; body?: string | Buffer; from?: string } = {},
  ): Promise<TestResponse> {
    return httpRequest({ port: this.port, method, path, ...options });
  }

  /** A request with the administrator's token; a body that is no text is sent as JSON. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<TestResponse> {
    this.#token ??= await this.login();
    const authorization = `Bearer ${this.#token}`;
    if (body === undefined) return this.request(method, path, { headers: { authorization, ...headers } });
    return this.request(method, path, {
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    });
  }

  /** A fresh token of a user. */
  async login(name = 'admin', password = TEST_PASSWORD): Promise<string> {
    const answer = await this.request('POST', '/security/user/authenticate?raw=true', {
      headers: { authorization: basic(name, password) },
    });
    if (answer.status !== 200) throw new Error(`login failed: ${answer.text}`);
    return answer.text;
  }

  forgetToken(): void {
    this.#token = undefined;
  }

  async stop(): Promise<void> {
    this.#api = undefined;
    const failures = await this.#parts.stop();
    if (failures.length > 0) throw new AggregateError(failures, 'the API did not stop in good order');
  }

  async remove(): Promise<void> {
    await this.stop();
    this.home.remove();
  }
}

export function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}
