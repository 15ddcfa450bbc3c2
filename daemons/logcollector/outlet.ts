import type { BusEvent } from '../../lib/bus/bus-event.js';
import type { CollectorStats, LocationCount } from './collector-stats.js';
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
  /** Hands an event to the sink of the home, false when that has no room; absent when `agent` is no target. */
  readonly send: ((event: BusEvent, sequence: number) => boolean) | undefined;
  /** How messages look there. */
  readonly format: MessageFormat;
  readonly sockets: readonly SocketOutlet[];
  readonly stats: CollectorStats;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Byte string of a path: what events carry as their location. */
function byteString(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Where the records of one source go: the sink of the home, sockets, or both. */
export class Outlet {
  readonly #parts: OutletParts;
  readonly #location: string;
  readonly #counted: LocationCount;

  constructor(parts: OutletParts) {
    this.#parts = parts;
    this.#location = byteString(parts.location);
    const targets = [...(parts.send ? ['agent'] : []), ...parts.sockets.map(({ name }) => name)];
    this.#counted = parts.stats.open(parts.location, targets);
  }

  /**
   * Hands a record on; false when the sink's window is full, then nothing was done and it must be given again.
   * Sockets get what they can take: they acknowledge nothing.
   */
  trySend({ message, end }: LogRecord): boolean {
    const { send, format, sockets, queue, now } = this.#parts;
    if (send !== undefined) {
      const event = { queue, location: this.#location, message: format(message), receivedAt: now() };
      if (!send(event, end)) {
        return false;
      }
    }
    this.#counted.count(message.length);
    for (const { name, target, format: formatFor } of sockets) {
      if (target()?.trySend(formatFor(message)) !== true) {
        this.#counted.countDrop(name);
      }
    }
    return true;
  }

  /** Nothing more comes from the source. */
  close(): void {
    this.#counted.close();
  }
}
