import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect as connectPlainly, isIP, type Socket } from 'node:net';
import { connect as connectSecurely, type TLSSocket } from 'node:tls';
import { describeError } from '../../lib/log/describe-error.js';
import { whyUnavailable } from '../terminal/why-unavailable.js';
import type { ApiEndpoint } from './manager-host.js';

/** Time for a connection with its handshake. */
const CONNECT_MS = 10_000;
/** Time without a byte before nobody waits any more: an operation with `wait_for_complete` may take minutes. */
const IDLE_MS = 300_000;
/** Largest answer that is read. */
const MAX_ANSWER_BYTES = 268_435_456;
const OK = 200;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/** What is sent. */
export type ApiCall = {
  readonly method: string;
  readonly path: string;
  readonly query?: ReadonlyMap<string, string>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string | undefined;
};

/** What came back. */
export type ApiAnswer = {
  readonly status: number;
  readonly reason: string;
  /** Media type without parameters. */
  readonly type: string;
  readonly text: string;
};

/** The API could not be reached, or is not the one that was expected. */
export class ApiConnectionError extends Error {
  override readonly name = 'ApiConnectionError';
}

/** Sends requests to an API, each on a connection of its own, after making sure that it is the right one. */
export class ApiClient {
  readonly endpoint: ApiEndpoint;
  readonly #token: string | undefined;

  /** @param token sent with each request; without it only a login is possible */
  constructor(endpoint: ApiEndpoint, token?: string) {
    this.endpoint = endpoint;
    this.#token = token;
  }

  /** @throws ApiConnectionError */
  async send(call: ApiCall): Promise<ApiAnswer> {
    const socket = await this.#connect();
    try {
      return await readAnswer(await this.#begin(call, socket));
    } catch (error) {
      throw this.#failure(error);
    } finally {
      socket.destroy();
    }
  }

  /**
   * Sends a request whose answer goes on: gives what comes of it, or the answer of a refusal.
   * @param signal ends the stream without an error
   * @throws ApiConnectionError, from what it gives as well when the stream breaks off
   */
  async stream(call: ApiCall, signal: AbortSignal): Promise<ApiAnswer | AsyncIterable<Buffer>> {
    const socket = await this.#connect();
    try {
      const response = await this.#begin(call, socket);
      if (response.statusCode === OK) return this.#chunks(response, socket, signal);
      return await readAnswer(response).finally(() => socket.destroy());
    } catch (error) {
      socket.destroy();
      throw this.#failure(error);
    }
  }

  async *#chunks(response: IncomingMessage, socket: Socket, signal: AbortSignal): AsyncGenerator<Buffer> {
    const end = (): void => {
      socket.destroy();
    };
    signal.addEventListener('abort', end, { once: true });
    try {
      if (signal.aborted) return;
      for await (const chunk of response as AsyncIterable<Buffer>) yield chunk;
    } catch (error) {
      if (!signal.aborted) throw this.#failure(error);
    } finally {
      signal.removeEventListener('abort', end);
      socket.destroy();
    }
  }

  async #begin({ method, path, query, headers = {}, body }: ApiCall, socket: Socket): Promise<IncomingMessage> {
    const text = [...(query ?? [])].map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
    const authorization = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
    const request = httpRequest({
      createConnection: () => socket,
      method,
      path: text === '' ? path : `${path}?${text}`,
      timeout: IDLE_MS,
      headers: {
        host: this.endpoint.url.host,
        connection: 'close',
        ...authorization,
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
        ...headers,
      },
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${IDLE_MS / 1000} s`)));
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    request.end(body);
    const [response] = await answered;
    return response;
  }

  #failure(error: unknown): ApiConnectionError {
    return new ApiConnectionError(`${this.endpoint.url.origin}: ${describeError(error)}`, { cause: error });
  }

  async #connect(): Promise<Socket> {
    const { url, trust, home } = this.endpoint;
    try {
      if (trust.kind === 'loopback') return await connectedTo(url);
      const pinned = trust.kind === 'certificate' ? trust.fingerprint : undefined;
      // A certificate that is known is compared before anything is sent; whoever has it need not be vouched for.
      const ca = trust.kind === 'authority' ? trust.pem : undefined;
      const socket = await handshake(url, { rejectUnauthorized: pinned === undefined, ca });
      const fingerprint = socket.getPeerX509Certificate()?.fingerprint256;
      if (pinned === undefined || fingerprint === pinned) return socket;
      socket.destroy();
      throw new ApiConnectionError(
        `${url.origin} has another certificate than the one that is known: ${fingerprint ?? 'none'}, not ${pinned}. ` +
          'Nothing was sent. If the certificate was renewed, log in again.',
      );
    } catch (error) {
      if (error instanceof ApiConnectionError) throw error;
      const reason = `${url.origin}: ${describeError(error)}`;
      throw new ApiConnectionError(home === undefined ? reason : whyUnavailable(home, 'svc-apid', reason), {
        cause: error,
      });
    }
  }
}

/** What an API shows before it is trusted. */
export type ShownCertificate = {
  /** Vouched for by an authority that this system knows, and made for this name. */
  readonly authorized: boolean;
  readonly pem: string;
  /** SHA-256, as OpenSSL writes it. */
  readonly fingerprint: string;
};

/** Looks at the certificate of an API; nothing is sent. @throws ApiConnectionError */
export async function showCertificate(url: URL): Promise<ShownCertificate> {
  try {
    const socket = await handshake(url, { rejectUnauthorized: false, ca: undefined });
    const certificate = socket.getPeerX509Certificate();
    const { authorized } = socket;
    socket.destroy();
    if (certificate === undefined) throw new Error('it shows no certificate');
    return { authorized, pem: certificate.toString(), fingerprint: certificate.fingerprint256 };
  } catch (error) {
    throw new ApiConnectionError(`${url.origin}: ${describeError(error)}`, { cause: error });
  }
}

type HandshakeOptions = { readonly rejectUnauthorized: boolean; readonly ca: string | undefined };

async function handshake(url: URL, { rejectUnauthorized, ca }: HandshakeOptions): Promise<TLSSocket> {
  const { host, port } = placeOf(url);
  const socket = connectSecurely({
    host,
    port,
    rejectUnauthorized,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
  });
  await established(socket, 'secureConnect');
  return socket;
}

async function connectedTo(url: URL): Promise<Socket> {
  const socket = connectPlainly(placeOf(url));
  await established(socket, 'connect');
  return socket;
}

async function established(socket: Socket, event: string): Promise<void> {
  try {
    await once(socket, event, { signal: AbortSignal.timeout(CONNECT_MS) });
  } catch (error) {
    socket.on('error', () => {});
    socket.destroy();
    if (error instanceof Error && error.name === 'AbortError') {
      throw new Error(`no connection within ${CONNECT_MS / 1000} s`, { cause: error });
    }
    throw error;
  }
}

function placeOf(url: URL): { host: string; port: number } {
  const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 443) : Number(url.port);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port };
}

async function readAnswer(response: IncomingMessage): Promise<ApiAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes: ask for less`);
    chunks.push(chunk);
  }
  const type = (response.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
  const { statusCode = 0, statusMessage = '' } = response;
  return { status: statusCode, reason: statusMessage, type, text: Buffer.concat(chunks).toString('utf8') };
}
