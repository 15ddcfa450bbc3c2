import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isErrno } from '../../lib/files/is-errno.js';
import type { Logger } from '../../lib/log/logger.js';
import { portHolder } from '../../lib/process/port-in-use.js';
import type { HttpsSettings } from '../api-settings.js';
import type { ApiConnections } from './api-connections.js';
import { jsonText } from './json-text.js';
import { SECURITY_HEADERS } from './response-headers.js';

/** Time limits of a connection in milliseconds. Each stops clients that hold connections by being slow. */
export type ConnectionTimes = {
  readonly handshake: number;
  readonly headers: number;
  /** From the first byte of a request to the last of its body. */
  readonly request: number;
  readonly keepAlive: number;
  /** Without any traffic, for clients that do not read their answer. */
  readonly idle: number;
  /** How often the limits are looked at. */
  readonly check: number;
};

export const CONNECTION_TIMES: ConnectionTimes = {
  handshake: 10_000,
  headers: 15_000,
  request: 120_000,
  keepAlive: 15_000,
  idle: 180_000,
  check: 2_000,
};

/** Bytes of request line and headers; tokens of users with many roles need room. */
const MAX_HEADER_BYTES = 32 * 1024;
/** Requests on one connection, so that no client holds one for ever. */
const MAX_REQUESTS_PER_SOCKET = 10_000;

const TAKEN = '2010 - Error while attempting to bind on address: address already in use.';

/** The API cannot start or go on as configured; codes 2000..2012 (rest-api.md 1.3). */
export class ApiStartError extends Error {
  override readonly name = 'ApiStartError';
}

export type BoundHost = { readonly host: string; readonly port: number };

/** The listeners of the API, one a host, all on one port. */
export class ApiServer {
  readonly #servers: (http.Server | https.Server)[] = [];
  readonly #logger: Logger;
  readonly #listener: http.RequestListener;
  readonly #times: ConnectionTimes;
  readonly #https: HttpsSettings | undefined;
  readonly #connections: ApiConnections;
  #tlsErrors = 0;

  constructor(
    listener: http.RequestListener,
    tls: HttpsSettings | undefined,
    logger: Logger,
    connections: ApiConnections,
    times: ConnectionTimes = CONNECTION_TIMES,
  ) {
    this.#listener = listener;
    this.#https = tls;
    this.#logger = logger;
    this.#connections = connections;
    this.#times = times;
  }

  /** Handshakes that failed: garbage, plain HTTP on the TLS port, clients that refuse the certificate. */
  get tlsErrors(): number {
    return this.#tlsErrors;
  }

  /**
   * Binds every host. With port 0 the first host gets a free port and the others the same one. A host of a family this
   * machine does not have is skipped with a warning as long as another one works.
   * @throws ApiStartError when a port is taken, certificates cannot be used, or no host works
   */
  async start(hosts: readonly string[], port: number): Promise<BoundHost[]> {
    const bound: BoundHost[] = [];
    const skipped: string[] = [];
    try {
      for (const host of hosts) {
        const server = this.#makeServer();
        try {
          const actual = await listen(server, host, port === 0 ? (bound[0]?.port ?? 0) : port);
          this.#servers.push(server);
          bound.push({ host, port: actual });
        } catch (error) {
          const code = (error as NodeJS.ErrnoException).code ?? '';
          if (!['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'].includes(code)) throw error;
          skipped.push(`${host} (${code})`);
        }
      }
      if (bound.length === 0) throw new ApiStartError(`no address to listen on: ${skipped.join(', ')}`);
    } catch (error) {
      await this.stop(0);
      throw isErrno(error, 'EADDRINUSE') ? taken(error as PortTaken) : error;
    }
    for (const host of skipped) this.#logger.warn(`Not listening on ${host}: this machine has no such address.`);
    return bound;
  }

  /**
   * Reads key and certificate again for new connections.
   * @throws ApiStartError when they cannot be used; the old ones stay then
   */
  reloadCertificate(): void {
    if (this.#https === undefined) return;
    const options = tlsOptions(this.#https);
    for (const server of this.#servers) if (server instanceof https.Server) server.setSecureContext(options);
  }

  /** Takes no more connections, lets running requests end for at most `drainMs`, then cuts them off. */
  async stop(drainMs: number): Promise<void> {
    const closed = Promise.all(
      this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
    );
    for (const server of this.#servers) server.closeIdleConnections();
    const timer = setTimeout(() => this.#servers.forEach((server) => server.closeAllConnections()), drainMs);
    await closed;
    clearTimeout(timer);
  }

  #makeServer(): http.Server | https.Server {
    const options: http.ServerOptions = {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: this.#times.headers,
      requestTimeout: this.#times.request,
      keepAliveTimeout: this.#times.keepAlive,
      connectionsCheckingInterval: this.#times.check,
      requireHostHeader: false,
    };
    const server =
      this.#https === undefined
        ? http.createServer(options, this.#listener)
        : https.createServer(
            { ...options, ...tlsOptions(this.#https), handshakeTimeout: this.#times.handshake },
            this.#listener,
          );
    server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET;
    server.setTimeout(this.#times.idle);
    if (server instanceof https.Server) this.#watchTls(server);
    this.#connections.watch(server);
    // The pipeline meets expectations itself, because the order of refusals counts (rest-api.md 1.2).
    server.on('checkContinue', this.#listener);
    server.on('checkExpectation', this.#listener);
    server.on('clientError', answerBrokenRequest);
    return server;
  }

  #watchTls(server: https.Server): void {
    server.on('tlsClientError', (error: Error, socket: Socket) => {
      this.#tlsErrors += 1;
      this.#logger.debug(`TLS handshake with ${socket.remoteAddress ?? 'unknown'} failed: ${error.message}`);
      socket.destroy();
    });
  }
}

function tlsOptions(settings: HttpsSettings): https.ServerOptions {
  try {
    return {
      key: readFileSync(settings.key),
      cert: readFileSync(settings.certificate),
      minVersion: 'TLSv1.2',
      honorCipherOrder: true,
      ...(settings.ciphers === undefined ? {} : { ciphers: settings.ciphers.toUpperCase() }),
      ...(settings.ca === undefined
        ? {}
        : { ca: readFileSync(settings.ca), requestCert: true, rejectUnauthorized: true }),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiStartError(`2003 - Error loading SSL/TLS certificates: ${reason}`, { cause: error });
  }
}

function listen(server: NetServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // An IPv6 listener that also takes IPv4 would collide with the one for 0.0.0.0.
    server.listen({ host, port, ipv6Only: host.includes(':') }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** What Node says of a port that somebody else has. */
type PortTaken = Error & { readonly address?: string; readonly port?: number };

/** The reference's text, and which port it is about: with several homes on one machine it is the question. */
function taken(error: PortTaken): ApiStartError {
  const port = error.port ?? 0;
  const place = `${error.address ?? 'every address'}, port ${String(port)}, set in api/configuration/api.yaml`;
  return new ApiStartError(`${TAKEN} (${place}; in use by ${portHolder('tcp', port)})`, { cause: error });
}

/** What is no HTTP is answered by a problem body where that is possible, and the connection ends. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, title] =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? [408, 'Request Timeout']
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? [431, 'Request Header Fields Too Large']
        : [400, 'Bad Request'];
  const body = jsonText({ title, detail: 'The request is not valid HTTP, or did not arrive in time.' }, false);
  const headers = Object.entries({
    ...SECURITY_HEADERS,
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${headers.join('')}\r\n${body}`);
}
