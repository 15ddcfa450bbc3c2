import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { expect } from 'chai';
import { restartNeeded, withoutRestart } from '../../../../api/api-settings.js';
import { ApiConnections } from '../../../../api/http/api-connections.js';
import { ApiServer, ApiStartError, CONNECTION_TIMES } from '../../../../api/http/api-server.js';
import { dataResult } from '../../../../api/http/envelope.js';
import { StoreError } from '../../../../lib/store/store-error.js';
import { httpRequest } from '../../../support/api/http-request.js';
import { TEST_SETTINGS, TestApi } from '../../../support/api/test-api.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const QUICK = { handshake: 150, headers: 150, request: 300, keepAlive: 200, idle: 400, check: 50 };

/** Sends bytes and collects what comes back until the other side closes. */
function exchange(socket: net.Socket, ...parts: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    for (const part of parts) socket.write(part);
  });
}

describe('listeners over TLS', () => {
  let api: TestApi;
  const files = (test: TestApi) => ({
    key: test.home.path('api', 'configuration', 'ssl', 'server.key'),
    certificate: test.home.path('api', 'configuration', 'ssl', 'server.crt'),
    ca: undefined,
    ciphers: undefined,
  });
  before(async () => {
    api = new TestApi();
    await api.start({ https: files(api) }, { connectionTimes: QUICK });
  });
  after(() => api.remove());

  const connect = (options: tls.ConnectionOptions = {}) =>
    tls.connect({ host: '127.0.0.1', port: api.port, rejectUnauthorized: false, ...options });
  const alive = async () => {
    const answer = await httpRequest({ port: api.port, tls: true, path: '/' });
    expect(answer.status).to.equal(401);
  };

  it('makes its certificate and speaks TLS 1.2 and 1.3 only', async () => {
    expect(api.logger.lines).to.include(
      'info: HTTPS is enabled but cannot find the private key and/or certificate. Attempting to generate them',
    );
    for (const [version, works] of [
      ['TLSv1.3', true],
      ['TLSv1.2', true],
      ['TLSv1.1', false],
    ] as const) {
      const socket = connect({ minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' });
      const protocol = await new Promise((resolve) => {
        socket.once('secureConnect', () => resolve(socket.getProtocol()));
        socket.once('error', () => resolve(undefined));
      });
      socket.destroy();
      expect(protocol).to.equal(works ? version : undefined);
    }
  });

  it('survives garbage, plain HTTP and silence on the port', async () => {
    const garbage = Buffer.from(Array.from({ length: 4096 }, (_value, index) => (index * 97 + 13) & 0xff));
    await exchange(net.connect(api.port, '127.0.0.1'), garbage);
    await exchange(net.connect(api.port, '127.0.0.1'), 'GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    // A handshake that never begins: it is the server that closes.
    await exchange(net.connect(api.port, '127.0.0.1'));
    await exchange(connect(), garbage);
    await alive();
  });

  it('answers what is no HTTP with a problem and closes', async () => {
    const text = await exchange(connect(), 'RUBBISH\r\n\r\n');
    expect(text).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(text)
      .to.include('content-type: application/problem+json; charset=utf-8')
      .and.include('server: Security Manager');
    const large = await exchange(connect(), `GET / HTTP/1.1\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`);
    expect(large).to.match(/^HTTP\/1\.1 431 /);
  });

  it('does not let header lines be smuggled in', async () => {
    const text = await exchange(
      connect(),
      'GET /agents/?x=%0d%0aset-cookie:a HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    );
    expect(text)
      .to.match(/^HTTP\/1\.1 307 /)
      .and.to.match(/\r\nlocation: \/agents\?x=%0D%0Aset-cookie%3Aa\r\n/);
    expect(text).not.to.match(/^set-cookie/im);
    const both = await exchange(
      connect(),
      'POST /events HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n',
    );
    expect(both).to.match(/^HTTP\/1\.1 400 /);
  });

  it('cuts off clients that are slow on purpose', async () => {
    const headers = await exchange(connect(), 'GET / HTTP/1.1\r\nhost: x\r\n');
    expect(headers).to.match(/^HTTP\/1\.1 408 /);
    const body = await exchange(connect(), 'POST /events HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{');
    expect(body).to.match(/^HTTP\/1\.1 408 |^$/);
    const idle = await exchange(connect(), 'GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(idle).to.match(/^HTTP\/1\.1 401 /);
    await alive();
  });

  it('takes a new certificate without a restart, and keeps the old one when it is broken', async () => {
    const fingerprint = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect();
        socket.once('error', reject);
        socket.once('secureConnect', () => {
          resolve(socket.getPeerCertificate().fingerprint256);
          socket.destroy();
        });
      });
    const first = await fingerprint();
    const other = new TestApi();
    await other.start({ https: files(other) });
    for (const name of ['key', 'certificate'] as const) {
      rmSync(files(api)[name]);
      writeFileSync(files(api)[name], readFileSync(files(other)[name]));
    }
    await other.remove();
    const settings = { ...TEST_SETTINGS, https: files(api) };
    api.api.reload(settings);
    const second = await fingerprint();
    expect(second).not.to.equal(first);
    rmSync(files(api).certificate);
    expect(() => api.api.reload(settings)).to.throw(ApiStartError, '2003 - Error loading SSL/TLS certificates');
    expect(await fingerprint()).to.equal(second);
  });
});

describe('listeners', () => {
  it('bind every host to one port, and say when it is taken', async () => {
    const logger = new RecordingLogger();
    const connections = new ApiConnections(logger);
    const answer = (_request: unknown, response: ServerResponse) => response.end('x');
    const make = () => new ApiServer(answer, undefined, logger, connections, CONNECTION_TIMES);
    const first = make();
    const bound = await first.start(['127.0.0.1', '::1', '192.0.2.77'], 0);
    expect(bound.map(({ host }) => host))
      .to.include('127.0.0.1')
      .and.not.include('192.0.2.77');
    expect(new Set(bound.map(({ port }) => port)).size).to.equal(1);
    expect(logger.lines).to.include(
      'warn: Not listening on 192.0.2.77 (EADDRNOTAVAIL): this machine has no such address.',
    );
    const error = await make()
      .start(['127.0.0.1'], bound[0]!.port)
      .catch((failure: unknown) => failure);
    expect(error)
      .to.be.instanceOf(ApiStartError)
      .with.property('message')
      .that.matches(/^2010 - Error while attempting to bind on address: address already in use\. \(127\.0\.0\.1, /)
      .and.contains(`port ${bound[0]!.port}, set in api/configuration/api.yaml; in use by `)
      .and.contains(`(pid ${process.pid})`);
    await first.stop(0);
    const nowhere = await make()
      .start(['192.0.2.77'], 0)
      .catch((failure: unknown) => failure);
    expect(nowhere).to.be.instanceOf(ApiStartError);
  });
});

describe('handlers', () => {
  let api: TestApi;
  afterEach(() => api.remove());

  it('are given up at the request time limit, unless the client waits for them', async () => {
    let aborted = 0;
    const slow = async (signal: AbortSignal) => {
      // Longer than the limit, and no longer than it has to be.
      await delay(120, undefined, { signal }).catch(() => (aborted += 1));
      return dataResult({});
    };
    api = await new TestApi().start(
      { requestTimeoutMs: 40 },
      { handlers: [{ getManagerInfo: ({ signal }) => slow(signal) }] },
    );
    const late = await api.call('GET', '/manager/info');
    expect(late.status).to.equal(500);
    expect(late.json()).to.deep.equal({
      title: 'Security Manager Internal Error',
      detail: 'Timeout executing API request',
      dapi_errors: { node01: { error: 'Timeout executing API request', logfile: 'WAZUH_HOME/logs/api.log' } },
      error: 3021,
    });
    await eventually('the handler hears of it', () => aborted === 1);
    expect((await api.call('GET', '/manager/info?wait_for_complete=true')).status).to.equal(200);
  });

  it('that fail are answered 1000 and logged', async () => {
    const broken = () => Promise.reject(new Error('broken inside'));
    api = await new TestApi().start({}, { handlers: [{ getManagerInfo: broken }] });
    const answer = await api.call('GET', '/manager/info');
    expect(answer.status).to.equal(500);
    expect(answer.json()).to.include({ error: 1000, title: 'Security Manager Internal Error' });
    expect(answer.text).not.to.include('broken inside');
    expect(api.logger.lines.join()).to.include('GET /manager/info failed: Error: broken inside');
  });

  const problem = (answer: { json(): unknown }) => {
    const { error, detail } = answer.json() as { error: number; detail: string };
    return [error, detail];
  };

  it('that would change something and are not done in time say that they may have been', async () => {
    const slow = ({ signal }: { readonly signal: AbortSignal }) =>
      delay(10_000, undefined, { signal }) as Promise<never>;
    api = await new TestApi().start({ requestTimeoutMs: 40 }, { handlers: [{ putManagerRestart: slow }] });
    const late = await api.call('PUT', '/manager/restart');
    expect([late.status, problem(late)]).to.deep.equal([
      500,
      [3021, 'Timeout executing API request: whether it was carried out is not known'],
    ]);
  });

  it('say whose disk is full', async () => {
    const errors = [
      Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
      new StoreError('full', '/home/api: no space left'),
    ];
    api = await new TestApi().start({}, { handlers: [{ putManagerRestart: () => Promise.reject(errors.pop()!) }] });
    for (let count = 0; count < 2; count += 1) {
      const full = await api.call('PUT', '/manager/restart');
      expect([full.status, problem(full)]).to.deep.equal([
        503,
        [8005, 'No space left on the disk of node "node01": svc-apid'],
      ]);
    }
  });

  it('answer browsers of the configured origin', async () => {
    api = await new TestApi().start({
      cors: { sourceRoute: 'https://a.test', exposeHeaders: 'x-a', allowHeaders: '*', allowCredentials: true },
    });
    const get = (origin: string) => api.request('GET', '/', { headers: { origin } });
    expect((await get('https://a.test')).headers).to.include({
      'access-control-allow-origin': 'https://a.test',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'x-a',
      vary: 'Origin',
    });
    expect((await get('https://b.test')).headers).not.to.have.property('access-control-allow-origin');
    const preflight = (origin: string, method: string) =>
      api.request('OPTIONS', '/rules', {
        headers: {
          origin,
          'access-control-request-method': method,
          'access-control-request-headers': 'authorization',
        },
      });
    const good = await preflight('https://a.test', 'GET');
    expect(good.status).to.equal(200);
    expect(good.headers).to.include({
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'authorization',
    });
    expect((await preflight('https://b.test', 'GET')).status).to.equal(400);
    expect((await preflight('https://a.test', 'PUT')).status).to.equal(400);
    expect((await api.request('OPTIONS', '/rules')).status).to.equal(405);
  });

  it('are found under new settings after a reload', async () => {
    api = await new TestApi().start();
    expect((await api.request('GET', '/docs')).status).to.equal(200);
    const access = { maxLoginAttempts: 50, blockSeconds: 300, maxRequestsPerMinute: 2 };
    const settings = { ...TEST_SETTINGS, docs: false, access, port: 1, authenticationPoolSize: 3 };
    expect(restartNeeded(TEST_SETTINGS, settings)).to.deep.equal(['port', 'authentication_pool_size']);
    expect(restartNeeded(TEST_SETTINGS, withoutRestart(TEST_SETTINGS, settings))).to.deep.equal([]);
    api.api.reload(withoutRestart(TEST_SETTINGS, settings));
    expect((await api.request('GET', '/docs')).status).to.equal(404);
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await api.request('GET', '/')).status);
    expect(statuses).to.deep.equal([401, 401, 429]);
  });
});
