import type { EventStream } from '../../lib/bus/event-stream.js';
import type { CollectorStats } from './collector-stats.js';
import type { LogRecord } from './log-record.js';
import type { SocketTarget } from './socket-target.js';

/** How messages of a location look for one target. */
export type MessageFormat = (message: Buffer) => Buffer;

/** A socket among the targets of a file. */
export type SocketOutlet = {
  readonly name: string;
  /** The socket as of now: a reload may exchange it. */
  readonly target: () => Pick<SocketTarget, 'trySend'> | undefined;
  readonly format: MessageFormat;
};

export type OutletParts = {
  readonly location: string;
  readonly queue: string;
  /** Stream to the sink of the home; absent when `agent` is no target. */
  readonly stream: EventStream | undefined;
  readonly streamFormat: MessageFormat;
  readonly sockets: readonly SocketOutlet[];
  readonly stats: CollectorStats;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Byte string of a path: what events carry as their location. */
function byteString(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Where the records of one file go. */
export class Outlet {
  readonly #parts: OutletParts;
  readonly #location: string;
  readonly #targets: readonly string[];

  constructor(parts: OutletParts) {
    this.#parts = parts;
    this.#location = byteString(parts.location);
    this.#targets = [...(parts.stream ? ['agent'] : []), ...parts.sockets.map(({ name }) => name)];
  }

  get stream(): EventStream | undefined {
    return this.#parts.stream;
  }

  /**
   * Hands a record on; false when the sink's window is full, then nothing was done and it must be given again.
   * Sockets get what they can take: they acknowledge nothing.
   */
  trySend({ message, end }: LogRecord): boolean {
    const { stream, streamFormat, sockets, queue, stats, location, now } = this.#parts;
    if (stream !== undefined) {
      const event = { queue, location: this.#location, message: streamFormat(message), receivedAt: now() };
      if (!stream.trySend(event, end)) {
        return false;
      }
    }
    stats.count(location, message.length, this.#targets);
    for (const { name, target, format } of sockets) {
      if (target()?.trySend(format(message)) !== true) {
        stats.countDrop(location, name);
      }
    }
    return true;
  }
}
