import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';

/** A search engine's answer. */
export type IndexerAnswer = { readonly status: number; readonly text: string };

export type IndexerRequest = {
  /** `https://host:9200` */
  readonly host: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly body?: string | Buffer;
  /** Milliseconds for the whole. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** PEM: authorities instead of the system's; certificate and key of the manager. */
export type IndexerCertificates = { readonly ca?: Buffer[]; readonly cert?: Buffer; readonly key?: Buffer };

export type IndexerClientOptions = {
  /** Read before the first connection, and again behind each failure: they may have been replaced. @throws Error */
  readonly certificates: () => IndexerCertificates;
  /** Value of the header `authorization`; undefined: none is sent. */
  readonly authorization: () => string | undefined;
};

/** The answer to a bulk request has some 200 bytes a document; what is longer is no such answer. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Connections that are kept open for so long, milliseconds; servers close idle ones after some minutes. */
const KEEP_ALIVE_MS = 30_000;

/** Requests to search engines over connections that are kept (indexer.md 4.3). No redirects, no proxies. */
export class IndexerClient {
  readonly #options: IndexerClientOptions;
  readonly #http = new http.Agent({ keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS });
  #https: https.Agent | undefined;

  constructor(options: IndexerClientOptions) {
    this.#options = options;
  }

  /** @throws Error naming the host when there is no answer; the signal's reason */
  async request({ host, method, path, body, timeoutMs, signal }: IndexerRequest): Promise<IndexerAnswer> {
    const target = new URL(path, host);
    const isTls = target.protocol === 'https:';
    const authorization = this.#options.authorization();
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
        const outgoing = (isTls ? https : http).request(target, {
          method,
          agent: isTls ? this.#tls() : this.#http,
          headers: {
            'user-agent': 'security-manager',
            accept: 'application/json',
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
            ...(authorization === undefined ? {} : { authorization }),
          },
          signal: AbortSignal.any([signal, late]),
        });
        outgoing.on('error', reject);
        outgoing.on('response', resolve);
        outgoing.end(body);
      });
      return { status: response.statusCode ?? 0, text: await textOf(bounded(response)) };
    } catch (error) {
      signal.throwIfAborted();
      this.#https?.destroy();
      this.#https = undefined;
      if (late.aborted) {
        throw new Error(`${target.host} did not answer within ${String(timeoutMs / 1000)} s`, { cause: error });
      }
      throw new Error(`${target.host}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https?.destroy();
  }

  /** @throws Error when a certificate cannot be read */
  #tls(): https.Agent {
    return (this.#https ??= new https.Agent({
      keepAlive: true,
      keepAliveMsecs: KEEP_ALIVE_MS,
      minVersion: 'TLSv1.2',
      ...this.#options.certificates(),
    }));
  }
}

async function* bounded(response: Readable): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${String(MAX_ANSWER_BYTES)} bytes`);
    yield chunk as Buffer;
  }
}
