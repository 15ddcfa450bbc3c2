import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TestCertificate } from '../tls/test-certificates.js';

export type FileAnswer = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** A web server on 127.0.0.1 whose answers a test sets by path; it keeps the requests it got. */
export class FileServer {
  readonly requests: { readonly path: string; readonly headers: http.IncomingHttpHeaders }[] = [];
  readonly #answers = new Map<string, FileAnswer>();
  readonly #server: http.Server;
  readonly #scheme: string;
  readonly #sockets = new Set<Socket>();

  constructor(certificate?: TestCertificate) {
    const listener = (request: http.IncomingMessage, response: http.ServerResponse): void => {
      const path = request.url ?? '';
      this.requests.push({ path, headers: request.headers });
      // A client that has enough closes while more is being sent.
      response.on('error', () => {});
      const answer = this.#answers.get(path);
      if (answer === undefined) response.writeHead(404).end('nothing here');
      else answer(request, response);
    };
    this.#scheme = certificate === undefined ? 'http' : 'https';
    this.#server =
      certificate === undefined ? http.createServer(listener) : https.createServer({ ...certificate }, listener);
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#sockets.size;
  }

  address(path: string): string {
    return `${this.#scheme}://127.0.0.1:${String(this.port)}${path}`;
  }

  /** Serves a content, or what a function does, and returns the address. */
  serve(path: string, answer: string | Buffer | FileAnswer): string {
    this.#answers.set(path, typeof answer === 'function' ? answer : (_, response) => response.end(answer));
    return this.address(path);
  }

  /** Requests for a path so far. */
  count(path: string): number {
    return this.requests.filter((request) => request.path === path).length;
  }
}
