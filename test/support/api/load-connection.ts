import type { OnReadOpts } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';

/** Bytes that a connection reads into, again and again. */
const READ_BYTES = 256 * 1024;
const END_OF_HEADERS = '\r\n\r\n';

/** What came of one request. */
export type LoadAnswer = { readonly status: number; readonly bytes: number; readonly etag: string | undefined };

/**
 * A keep-alive connection to the API that costs its process as little as Node allows: requests are bytes that were made
 * before, of an answer only status, length and ETag are read, and one buffer takes all that comes. One request at a time; it
 * connects again when the server has closed after its answer.
 */
export class LoadConnection {
  readonly #port: number;
  #socket: TLSSocket | undefined;
  #resolve: ((answer: LoadAnswer) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  /** Beginning of an answer whose headers are not complete. */
  #head: Buffer | undefined;
  #missing = 0;
  #answer: LoadAnswer | undefined;
  #closes = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends one request. @throws Error when the connection ends before its answer */
  async ask(request: Buffer): Promise<LoadAnswer> {
    this.#socket ??= await this.#connect();
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connect(): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const onread: OnReadOpts = {
        buffer: Buffer.alloc(READ_BYTES),
        callback: (length, buffer) => {
          this.#take(Buffer.from(buffer.buffer, buffer.byteOffset, length));
          return true;
        },
      };
      const options: ConnectionOptions & { readonly onread: OnReadOpts } = {
        host: '127.0.0.1',
        port: this.#port,
        rejectUnauthorized: false,
        onread,
      };
      const socket = connect(options, () => resolve(socket));
      socket.setNoDelay(true);
      socket.on('error', reject);
      socket.on('close', () => {
        if (this.#socket === socket) this.#socket = undefined;
        this.#reject?.(new Error('the connection was closed before its answer'));
      });
    });
  }

  #take(chunk: Buffer): void {
    if (this.#answer !== undefined) {
      this.#count(chunk.length);
      return;
    }
    const head = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
    const end = head.indexOf(END_OF_HEADERS);
    if (end < 0) {
      this.#head = Buffer.from(head);
      return;
    }
    this.#head = undefined;
    const text = head.toString('latin1', 0, end);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
    this.#closes = /\r\nconnection: close/i.test(text);
    this.#answer = { status: Number(text.slice(9, 12)), bytes: length, etag: /\r\netag: *(\S+)/i.exec(text)?.[1] };
    this.#missing = length;
    this.#count(head.length - end - END_OF_HEADERS.length);
  }

  #count(bytes: number): void {
    this.#missing -= bytes;
    const answer = this.#answer;
    if (this.#missing > 0 || answer === undefined) return;
    this.#answer = undefined;
    const resolve = this.#resolve;
    this.#resolve = undefined;
    this.#reject = undefined;
    if (this.#closes) this.close();
    resolve?.(answer);
  }
}
