import { closeSync, fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import { unlessAborted } from '../../lib/async/unless-aborted.js';
import type { Logger } from '../../lib/log/logger.js';
import { admitLine } from './admit-line.js';
import { identityOf, type InodeIdentity, isSameInode, lookAt } from './file-identity.js';
import type { LineFilter } from './line-filter.js';
import { LineSplitter, type LogLine } from './line-splitter.js';
import { fileErrorText, OnceLog } from './once-log.js';
import type { Outlet } from './outlet.js';

export type PipeReaderParts = {
  /** Absolute. */
  readonly path: string;
  /** Opens it for reading without waiting for somebody who writes; gives the descriptor. */
  readonly openPipe: (path: string) => number;
  readonly filter: LineFilter;
  readonly outlet: Outlet;
  /** Resolves when the sink has room. */
  readonly ready: () => Promise<void>;
  readonly logger: Logger;
  /** `logcollector.sample_log_length` */
  readonly sampleBytes: number;
};

/**
 * Reads a named pipe line by line (`syslog-pipe`, daemons-and-config.md 6.2). What was read of a pipe is nowhere else: a
 * kill loses what is on its way to the sink. While the sink has no room nothing is read, and those who write wait.
 */
export class PipeReader {
  readonly #parts: PipeReaderParts;
  readonly #log: OnceLog;
  readonly #stopping = new AbortController();
  #open: { readonly socket: Socket; readonly identity: InodeIdentity } | undefined;
  /** The open one, and those that lost their name. */
  readonly #sockets = new Set<Socket>();
  /** Lines of the chunk that is being handed on. */
  #handing: Promise<void> = Promise.resolve();

  constructor(parts: PipeReaderParts) {
    this.#parts = parts;
    this.#log = new OnceLog(parts.logger);
  }

  /** Opens the pipe when it is not open, or when another one has its name. To be called again and again. */
  check(): void {
    if (this.#stopping.signal.aborted) {
      return;
    }
    const { path } = this.#parts;
    const stats = lookAt(path);
    if (stats === undefined) {
      this.#log.say(path, 'info', `(1904): File not available, ignoring it: '${path}'.`);
    } else if (!stats.isFIFO()) {
      this.#log.say(path, 'warn', `'${path}' is no named pipe and is not read.`);
    } else if (this.#open === undefined || !isSameInode(this.#open.identity, stats)) {
      this.#begin();
    }
  }

  /** Stops reading; what was read and is not handed on yet is given up, which is said. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#open = undefined;
    this.#sockets.forEach((socket) => socket.destroy());
    await this.#handing;
    this.#parts.outlet.close();
  }

  #begin(): void {
    const { path, openPipe, logger } = this.#parts;
    const before = this.#open;
    this.#open = undefined;
    try {
      const descriptor = openPipe(path);
      const stats = fstatSync(descriptor, { bigint: true });
      if (stats.isFIFO()) {
        const identity = identityOf(stats);
        if (before === undefined || !isSameInode(before.identity, stats)) {
          logger.info(`(1950): Analyzing file: '${path}'.`);
        }
        this.#log.forget(path);
        this.#open = { socket: this.#read(descriptor), identity };
      } else {
        closeSync(descriptor);
      }
    } catch (error) {
      this.#log.say(path, 'error', `(1103): Could not open file '${path}' due to ${fileErrorText(error)}.`);
    }
    // Another pipe has the name: whoever writes to this one is read until he closes it.
    if (before?.socket.bytesRead === 0) {
      before.socket.destroy();
    }
  }

  #read(descriptor: number): Socket {
    const { path } = this.#parts;
    const splitter = new LineSplitter(0);
    const socket = new Socket({ fd: descriptor, readable: true, writable: false });
    this.#sockets.add(socket);
    const hand = (lines: readonly LogLine[]): void => {
      this.#handing = this.#handing.then(() => this.#handOn(lines));
    };
    socket.on('data', (chunk: Buffer) => {
      const lines = splitter.push(chunk);
      if (lines.length > 0) {
        socket.pause();
        hand(lines);
        void this.#handing.then(() => socket.resume());
      }
    });
    socket.on('end', () => {
      // Whoever wrote has closed it: what is incomplete stays so. It is opened again before this end of it is closed, since
      // what the next one writes would be gone when nobody had it open.
      const last = splitter.finish();
      hand(last === undefined ? [] : [last]);
      if (this.#open?.socket === socket && !this.#stopping.signal.aborted) {
        this.#begin();
      }
    });
    socket.on('error', (error) => {
      this.#log.say(path, 'error', `(1103): Could not read file '${path}' due to ${fileErrorText(error)}.`);
    });
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#open?.socket === socket) {
        this.#open = undefined;
      }
    });
    return socket;
  }

  async #handOn(lines: readonly LogLine[]): Promise<void> {
    const { path, filter, outlet, ready, logger, sampleBytes } = this.#parts;
    const { signal } = this.#stopping;
    for (const [index, line] of lines.entries()) {
      if (line.bytes.length === 0 || !admitLine(line, path, logger, sampleBytes)) {
        continue;
      }
      const dropped = filter.dropReason(line.bytes);
      if (dropped !== undefined) {
        logger.debug(dropped);
        continue;
      }
      while (!outlet.trySend({ message: line.bytes, end: line.end })) {
        // It rejects when the producer is closed, which a stop does.
        await unlessAborted(signal, ready()).catch(() => undefined);
        if (signal.aborted) {
          logger.warn(`${String(lines.length - index)} lines of '${path}' were read and not handed on: they are lost.`);
          return;
        }
      }
    }
  }
}
