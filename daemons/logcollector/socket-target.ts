import { connect, type Socket } from 'node:net';
import type { Logger } from '../../lib/log/logger.js';

/** Attempts after which a socket is left alone for a while (daemons-and-config.md 6.2). */
const MAX_FAILURES = 3;

export type SocketTargetOptions = {
  readonly name: string;
  /** Path of a listening stream socket. */
  readonly path: string;
  readonly prefix: string;
  /** Messages that may wait. */
  readonly queueSize: number;
  /** Milliseconds it is left alone after three failures. */
  readonly failTimeMs: number;
  readonly logger: Logger;
};

/**
 * A `<socket>` of mode `tcp`: gets prefix and message of every line, one message a line. What it does not take in time is
 * dropped and counted by the caller: nothing here may hold up the events for the manager.
 */
export class SocketTarget {
  readonly name: string;
  readonly #options: SocketTargetOptions;
  #socket: Socket | undefined;
  #connected = false;
  #queue: Buffer[] = [];
  #failures = 0;
  #leftAloneUntil = 0;
  #overflowing = false;
  #stopped = false;

  constructor(options: SocketTargetOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** False when the message is dropped. */
  trySend(message: Buffer): boolean {
    const { queueSize, prefix, logger } = this.#options;
    if (this.#stopped || Date.now() < this.#leftAloneUntil) {
      return false;
    }
    if (this.#queue.length >= queueSize) {
      if (!this.#overflowing) {
        this.#overflowing = true;
        logger.warn(`Target '${this.name}' message queue is full (${String(queueSize)}). Log lines may be lost.`);
      }
      return false;
    }
    this.#queue.push(Buffer.concat([Buffer.from(prefix), message, Buffer.from('\n')]));
    this.#flush();
    return true;
  }

  stop(): void {
    this.#stopped = true;
    this.#socket?.end();
    this.#socket = undefined;
  }

  #flush(): void {
    if (this.#socket === undefined) {
      this.#connect();
    }
    while (this.#connected && this.#queue.length > 0 && this.#socket?.writableNeedDrain === false) {
      const message = this.#queue.shift();
      if (message !== undefined) {
        this.#socket.write(message);
      }
    }
    if (this.#queue.length === 0) {
      this.#overflowing = false;
    }
  }

  #connect(): void {
    const { path } = this.#options;
    const socket = connect(path);
    this.#socket = socket;
    socket.on('connect', () => {
      this.#connected = true;
      this.#failures = 0;
      this.#flush();
    });
    socket.on('drain', () => {
      this.#flush();
    });
    // What a listener says is not for us.
    socket.resume();
    socket.on('error', (error) => {
      this.#failed(error.message);
    });
    socket.on('close', () => {
      this.#connected = false;
      if (this.#socket === socket) {
        this.#socket = undefined;
      }
      if (!this.#stopped && this.#queue.length > 0 && Date.now() >= this.#leftAloneUntil) {
        this.#connect();
      }
    });
  }

  #failed(reason: string): void {
    const { failTimeMs, logger, path } = this.#options;
    if (++this.#failures < MAX_FAILURES) {
      return;
    }
    this.#failures = 0;
    this.#leftAloneUntil = Date.now() + failTimeMs;
    const lost = this.#queue.length;
    this.#queue = [];
    logger.error(
      `(1218): Unable to send message to '${this.name}': ${reason} ('${path}'). ${String(lost)} messages are dropped, ` +
        `next attempt in ${String(Math.round(failTimeMs / 1000))} s.`,
    );
  }
}
