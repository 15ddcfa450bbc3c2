import http from 'node:http';
import https from 'node:https';

export type TestResponse = {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** Whether it came over a connection that there was already. */
  readonly reused: boolean;
  /** The body as JSON. @throws SyntaxError */
  json(): unknown;
};

export type TestRequest = {
  /** 127.0.0.1 by default. */
  readonly host?: string;
  readonly port: number;
  readonly tls?: boolean;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** Loopback address the request comes from; 127.0.0.1 by default. */
  readonly from?: string;
  /** Fails after this time; without it, never. */
  readonly timeoutMs?: number;
  /** Keeps the connection for further requests; without it each has its own. */
  readonly agent?: http.Agent;
};

/** More than the API takes, which may send a request's own target back. */
const MAX_HEADER_BYTES = 64 * 1024;

/** One request; the server's certificate is not checked. */
export function httpRequest(options: TestRequest): Promise<TestResponse> {
  const {
    host = '127.0.0.1',
    port,
    tls = false,
    method = 'GET',
    path,
    headers = {},
    body,
    from,
    timeoutMs,
    agent = false,
  } = options;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const settings = {
      host,
      port,
      method,
      path,
      headers: { ...length, ...headers },
      agent,
      maxHeaderSize: MAX_HEADER_BYTES,
      rejectUnauthorized: false,
      ...(from === undefined ? {} : { localAddress: from }),
      ...(timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
    };
    const request = (tls ? https : http).request(settings, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          reused: request.reusedSocket,
          json: () => JSON.parse(text) as unknown,
        });
      });
    });
    request.on('error', reject);
    if (body !== undefined) request.write(body);
    request.end();
  });
}
