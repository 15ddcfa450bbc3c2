import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that was answered, or not. */
export type ReceivedPost = {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
};

/** A receiver of webhooks on the loopback. */
export class WebReceiver {
  readonly posts: ReceivedPost[] = [];
  /** How the next ones are answered; undefined: not at all. */
  answer: (post: ReceivedPost, response: ServerResponse) => void = (_post, response) => {
    response.end('ok');
  };
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const post = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text) as unknown };
      this.posts.push(post);
      this.answer(post, response);
    });
  });

  async start(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}/hook/secret`;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
