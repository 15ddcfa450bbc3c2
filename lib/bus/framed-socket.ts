import { existsSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Logger } from '../log/logger.js';
import { bindForGroup } from '../process/bind-for-group.js';

/** Answers one request: the bytes of the frame in, the text of the answer out. */
export type FrameHandler = (request: Buffer) => Promise<string>;

export type FramedSocketOptions = {
  /** Path of the unix stream socket; an old socket file there is replaced. */
  readonly path: string;
  readonly handler: FrameHandler;
  /** Sent, framed, when a frame announces more than `maxFrameBytes`. */
  readonly oversizeAnswer: string;
  readonly logger: Logger;
  /** Longest life of a connection, milliseconds; a minute by default. */
  readonly maxConnectionMs?: number;
};

const HEADER_BYTES = 4;
/** A frame that announces more is refused before a byte of it is kept: a length is not a licence to allocate. */
const MAX_FRAME_BYTES = 65535;
/** A peer that neither sends nor reads is dropped after this long. */
const IDLE_TIMEOUT_MS = 10_000;
/** A connection lasts no longer than this, however busy it looks: one byte now and then must not keep a slot. */
const MAX_CONNECTION_MS = 60_000;
/** Connections at a time; what comes on top is closed at once, so that it does not wait for nothing. */
const MAX_CONNECTIONS = 128;

/**
 * Stream socket with the local request framing: 4-byte little-endian length, then the text, both ways; one request a
 * connection, then the server closes (rules-and-alerts.md 9.1). A broken or empty request is closed without answer.
 */
export class FramedSocket {
  readonly #options: FramedSocketOptions;
  readonly #maxConnectionMs: number;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();

  constructor(options: FramedSocketOptions) {
    this.#options = options;
    this.#maxConnectionMs = options.maxConnectionMs ?? MAX_CONNECTION_MS;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#accept(socket);
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** @throws Error when the path is taken by something that is not a socket, or cannot be bound. */
  async start(): Promise<void> {
    const { path } = this.#options;
    mkdirSync(dirname(path), { recursive: true, mode: 0o770 });
    if (existsSync(path)) {
      if (!lstatSync(path).isSocket()) throw new Error(`${path} exists and is not a socket`);
      unlinkSync(path);
    }
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      bindForGroup(() =>
        this.#server.listen(path, () => {
          this.#server.off('error', reject);
          resolve();
        }),
      );
    });
  }

  async stop(): Promise<void> {
    for (const socket of this.#connections) socket.destroy();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) =>
      this.#server.close(() => {
        resolve();
      }),
    );
  }

  #accept(socket: Socket): void {
    this.#connections.add(socket);
    socket.setTimeout(IDLE_TIMEOUT_MS, () => socket.destroy());
    const deadline = setTimeout(() => socket.destroy(), this.#maxConnectionMs);
    socket.on('close', () => {
      clearTimeout(deadline);
      this.#connections.delete(socket);
    });
    socket.on('error', () => socket.destroy());
    let chunks: Buffer[] = [];
    let received = 0;
    let expected = -1;
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      received += chunk.length;
      if (expected < 0 && received >= HEADER_BYTES) {
        if (chunks.length > 1) chunks = [Buffer.concat(chunks)];
        expected = chunks[0]?.readUInt32LE(0) ?? 0;
        if (expected > MAX_FRAME_BYTES) {
          socket.off('data', onData);
          this.#answer(socket, this.#options.oversizeAnswer);
          return;
        }
        if (expected === 0) {
          socket.destroy();
          return;
        }
      }
      if (expected >= 0 && received >= HEADER_BYTES + expected) {
        socket.off('data', onData);
        void this.#handle(socket, Buffer.concat(chunks).subarray(HEADER_BYTES, HEADER_BYTES + expected));
      }
    };
    socket.on('data', onData);
    socket.on('end', () => {
      if (expected < 0 || received < HEADER_BYTES + expected) socket.destroy();
    });
  }

  async #handle(socket: Socket, request: Buffer): Promise<void> {
    try {
      this.#answer(socket, await this.#options.handler(request));
    } catch (error) {
      this.#options.logger.error(`Request on '${this.#options.path}' failed: ${String(error)}`);
      socket.destroy();
    }
  }

  #answer(socket: Socket, text: string): void {
    if (socket.destroyed) return;
    const body = Buffer.from(text, 'utf8');
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32LE(body.length, 0);
    // Whatever else the peer sends is read and thrown away, so that closing does not reset its read of the answer.
    socket.resume();
    socket.end(Buffer.concat([header, body]));
  }
}
